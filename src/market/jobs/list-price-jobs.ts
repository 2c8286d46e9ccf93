// Lists the caller's price jobs, newest first, without their rows.
import { boundedId } from '#core/fields.ts'
import { listVerb } from '#core/paging.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { pageOf } from '#db/page.ts'
import type { MarketCtx } from '../marketplace-types.ts'
import { accountOf, JOB_COLUMNS, jobSummary } from './store.ts'

export const listPriceJobs = listVerb(
  { name: 'listPriceJobs', needs: OPERATION_PLAN.listPriceJobs, filters: { rule_id: boundedId('Only runs of this repricing rule') } },
  (ctx: MarketCtx, filter, range) => {
    const own = ctx.db.kysely.selectFrom('price_jobs').where('account_id', '=', accountOf(ctx.viewer))
    const jobs = own.where((e) => e.and(filter))
    return pageOf(jobs.select(JOB_COLUMNS).orderBy('id', 'desc'), range, (job) => jobSummary(ctx, job))
  },
)
