// Returns one of the caller's price jobs with its rows.
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import type { MarketCtx } from '../marketplace-types.ts'
import { findJob, jobRow, jobSummary, rowsOfJob } from './store.ts'
import type { PriceJob, PriceJobRow } from './types.ts'

export const getPriceJob = verb(
  { name: 'getPriceJob', needs: OPERATION_PLAN.getPriceJob, input: Type.Object({ id: id('price job') }) },
  async (ctx: MarketCtx, input): Promise<PriceJob> => {
    const { kysely } = ctx.db
    const job = await findJob(kysely, ctx.viewer, input.id)
    const rows: PriceJobRow[] = []
    for await (const part of rowsOfJob(kysely, job.id)) rows.push(...part.map((row) => jobRow(row)))
    return { ...jobSummary(ctx, job), rows }
  },
)
