// Runs a repricing rule of the caller now, enabled or not, if its current terms were simulated.
import { conflict } from '#core/errors.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { ownAccount } from '#core/verb.ts'
import { change } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import { runRule } from './run-rule.ts'
import { lockRule } from './repricing-store.ts'
import type { RepricingCtx, RepricingRun } from './repricing-types.ts'

export const runRepricingRule = writeVerb(
  {
    name: 'runRepricingRule',
    needs: OPERATION_PLAN.runRepricingRule,
    input: Type.Object({ id: id('repricing rule') }),
  },
  (ctx: RepricingCtx, { id }): Promise<RepricingRun> =>
    change(ctx, async (tx, note) => {
      const rule = await lockRule(tx, ownAccount(ctx.viewer), id)
      if (rule.simulated_at === null) throw conflict('rule_not_simulated')
      return runRule(ctx, tx, note, rule)
    }),
)
