// Undoes an applied price job: listings unchanged since the job get their old price and stock back, in one transaction.
import { id, missing } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { reason } from '#core/problems.ts'
import { verb } from '#core/verb.ts'
import { change } from '#db/change.ts'
import type { MarketCtx } from '../types.ts'
import { changeListings, isAsLeft, reversalOf } from './change-listings.ts'
import { jobWithRows, lockJob, saveOutcomes } from './store.ts'
import type { PriceJob } from './types.ts'

export const undoPriceJob = verb(
  {
    name: 'undoPriceJob',
    needs: OPERATION_PLAN.undoPriceJob,
    writes: true,
    input: Type.Object({ id: id('price job') }, { additionalProperties: false }),
  },
  (ctx: MarketCtx, input): Promise<PriceJob> =>
    change(ctx, async (tx, note) => {
      const now = ctx.now()
      const { job, rows } = await lockJob(tx, ctx.viewer, input.id, 'applied', now)
      const changed = rows.filter((row) => row.outcome === 'changed')
      const outcomes = await changeListings(ctx, { tx, note, outcome: 'reversed' }, changed, (row, listing) => {
        if (!listing) throw missing('listing', row.listing_id!)
        return isAsLeft(row, listing) ? { change: reversalOf(row), by: row.old_changed_by } : reason('changed_since_job')
      })
      const undone = await saveOutcomes(tx, job, outcomes, { state: 'undone', undone_at: now })
      const { reversed, kept, failed } = undone
      note.audit({ action: 'price_job.undo', subject: 'price_job', id: job.id, after: { reversed, kept, failed } })
      return jobWithRows(ctx, undone, rows, outcomes)
    }),
)
