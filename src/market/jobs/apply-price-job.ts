// Applies a planned price job: checks every row against the current listing and commits all rows in one transaction.
import { conflict } from '#core/errors.ts'
import { id, missing } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { reason, together } from '#core/problems.ts'
import { verb } from '#core/verb.ts'
import { change } from '#db/change.ts'
import type { MarketCtx } from '../types.ts'
import { changeListings, changeOf, isAsPlanned } from './change-listings.ts'
import { type Judged, jobWithRows, lockJob, saveOutcomes } from './store.ts'
import type { PriceJob } from './types.ts'

export const applyPriceJob = verb(
  {
    name: 'applyPriceJob',
    needs: OPERATION_PLAN.applyPriceJob,
    writes: true,
    input: Type.Object({ id: id('price job') }, { additionalProperties: false }),
  },
  (ctx: MarketCtx, input): Promise<PriceJob> =>
    change(ctx, async (tx, note) => {
      const now = ctx.now()
      const { job, rows } = await lockJob(tx, ctx.viewer, input.id, 'planned', now)
      const refused = rows.find((row) => row.refused !== null)
      if (job.policy === 'all' && refused) {
        throw conflict('job_refused', { row: refused.position, must: together(refused.refused!), count: job.rows_refused })
      }
      const by = { kind: 'price_job', id: job.id, at: now.toISOString() } as const
      const good = rows.filter((row) => row.refused === null)
      const outcomes = await changeListings(ctx, { tx, note, outcome: 'changed' }, good, (row, listing) => {
        if (!listing) throw missing('listing', row.listing_id!)
        return isAsPlanned(row, listing) ? { change: changeOf(row), by } : reason('changed_since_plan')
      })
      if (job.policy === 'all') refuseUnlessAll(outcomes)
      const applied = await saveOutcomes(tx, job, outcomes, { state: 'applied', applied_at: now })
      const { changed, kept, failed } = applied
      note.audit({ action: 'price_job.apply', subject: 'price_job', id: job.id, after: { changed, kept, failed } })
      return jobWithRows(ctx, applied, rows, outcomes)
    }),
)

/** @throws CONFLICT naming the first row that was not applied */
function refuseUnlessAll(outcomes: ReadonlyMap<number, Judged>): void {
  const left = [...outcomes].filter(([, { why }]) => why !== null)
  const [first] = left
  if (first) throw conflict('job_refused', { row: first[0], must: first[1].why!, count: left.length })
}
