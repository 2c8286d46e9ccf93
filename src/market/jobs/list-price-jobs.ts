// Lists the caller's price jobs, newest first, without their rows.
import { boundedId } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import type { MarketCtx } from '../types.ts'
import { accountOf, jobSummary, pageOfJobs } from './store.ts'
import type { PriceJobSummary } from './types.ts'

export const listPriceJobs = verb(
  {
    name: 'listPriceJobs',
    needs: OPERATION_PLAN.listPriceJobs,
    input: Type.Object({ rule_id: boundedId('Only runs of this repricing rule'), ...pageParams() }, { additionalProperties: false }),
  },
  async (ctx: MarketCtx, input): Promise<Page<PriceJobSummary>> => {
    const { rows, pagination } = await readPage(input, ({ rule_id: ruleId }, limit, offset) =>
      pageOfJobs(ctx.db.kysely, { accountId: accountOf(ctx.viewer), ruleId }, limit, offset),
    )
    return { rows: rows.map((job) => jobSummary(ctx, job)), pagination }
  },
)
