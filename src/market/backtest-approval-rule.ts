// Runs a backtest of an approval rule against the manual decisions of the last days.
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { type Backtest, backtest, DEFAULT_DAYS, isPassed } from './approval/backtest.ts'
import { fetchRule } from './approval/rule-store.ts'
import type { ListingsCtx } from './list-listings.ts'

export const backtestApprovalRule = verb(
  {
    name: 'backtestApprovalRule',
    needs: 'market',
    input: Type.Object(
      {
        id: id('approval rule'),
        days: Type.Optional(Type.Integer({ minimum: 1, maximum: 365, default: DEFAULT_DAYS, description: 'Number of days to test, up to now' })),
      },
      { additionalProperties: false },
    ),
  },
  async (ctx: ListingsCtx, { id, days = DEFAULT_DAYS }): Promise<Backtest> => {
    const rule = await fetchRule(ctx.db.kysely, id)
    const result = await backtest(ctx.db.kysely, rule.conditions, days, ctx.now())
    return { ...result, rule_version: rule.version, passed: isPassed(result, rule) }
  },
)
