// Price jobs over REST.
import { paged, type OwnErrorCode, type Route } from '#http/route.ts'
import { applyPriceJob } from '#market/jobs/apply-price-job.ts'
import { priceJobOfCsv } from '#market/jobs/csv-rows.ts'
import { getPriceJob } from '#market/jobs/get-price-job.ts'
import { listPriceJobs } from '#market/jobs/list-price-jobs.ts'
import { planPriceJob, type PlanCtx } from '#market/jobs/plan-price-job.ts'
import { type PriceJob, PriceJobSchema, PriceJobSummarySchema } from '#market/jobs/types.ts'
import { undoPriceJob } from '#market/jobs/undo-price-job.ts'

const tag = 'Listings'
const errors: OwnErrorCode[] = ['CONFLICT', 'INVALID_JSON', 'NOT_FOUND']

export const priceJobRoutes: Route<PlanCtx>[] = [
  {
    method: 'POST',
    path: '/plus/price-jobs',
    verb: planPriceJob,
    summary: 'Plan new prices and stock for many listings',
    description:
      'Each row gives one of your listings by `listing_id` or `sku`, with a new `price`, `quantity` or both; at most 10,000 rows. Nothing ' +
      'changes yet: the response shows the effect of each row with `warnings` to check, or why it is refused, by field. A plan can be applied for 24 hours. ' +
      'Also accepts CSV (`text/csv`) with these names as columns and `policy` in the query. Accepts an `Idempotency-Key`.',
    tag,
    status: 201,
    queryFields: ['policy'],
    bodyLimit: 4 * 1024 * 1024,
    bodies: { 'text/csv': priceJobOfCsv },
    answer: (job: PriceJob) => ({ data: job, message: 'Price job planned' }),
    data: PriceJobSchema,
    errors: ['INVALID_JSON', 'PAYLOAD_TOO_LARGE'],
  },
  {
    path: '/plus/price-jobs',
    ...paged(listPriceJobs, PriceJobSummarySchema),
    summary: 'List your price jobs, newest first',
    description: 'Kept for 90 days.',
    tag,
  },
  {
    method: 'GET',
    path: '/plus/price-jobs/:id',
    verb: getPriceJob,
    summary: 'Read a price job with its rows',
    tag,
    answer: (job: PriceJob) => ({ data: job }),
    data: PriceJobSchema,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/plus/price-jobs/:id/apply',
    verb: applyPriceJob,
    summary: 'Apply a planned price job',
    description:
      'Checks every row against its current listing and commits all rows in one transaction. With the policy `all`, nothing changes ' +
      'and the response is 409 if any row cannot be applied. With `good_rows`, a row whose price or stock has changed since the plan is ' +
      '`kept`, and a refused row is `failed`. Accepts an `Idempotency-Key`.',
    tag,
    answer: (job: PriceJob) => ({ data: job, message: 'Price job applied' }),
    data: PriceJobSchema,
    errors,
  },
  {
    method: 'POST',
    path: '/plus/price-jobs/:id/undo',
    verb: undoPriceJob,
    summary: 'Undo an applied price job',
    description:
      'Listings unchanged since the job get their old price and stock back (`reversed`); a listing that has changed is `kept`, ' +
      'and one that cannot be changed, such as a sold one, is `failed`. All rows commit at once. Accepts an `Idempotency-Key`.',
    tag,
    answer: (job: PriceJob) => ({ data: job, message: 'Price job undone' }),
    data: PriceJobSchema,
    errors,
  },
]
