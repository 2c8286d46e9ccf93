// Undoes an applied price job: listings unchanged since the job get their old price and stock back, in one transaction.
import { id, missing } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { reason } from '#core/problems.ts'
import { change } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import type { StockRow } from '../listing-store.ts'
import type { MarketCtx } from '../marketplace-types.ts'
import { changeListings, isAsApplied, reversalOf } from './change-listings.ts'
import { finishJob, jobRow, type StoredJobRow, jobSummary, lockJob } from './store.ts'
import type { PriceJob, PriceJobRow } from './types.ts'

export const undoPriceJob = writeVerb(
  {
    name: 'undoPriceJob',
    needs: OPERATION_PLAN.undoPriceJob,
    input: Type.Object({ id: id('price job') }),
  },
  (ctx: MarketCtx, input): Promise<PriceJob> =>
    change(ctx, async (tx, note) => {
      const now = ctx.now()
      const job = await lockJob(tx, ctx.viewer, input.id, 'applied', now)
      const rows: PriceJobRow[] = []
      const step = {
        job,
        outcome: 'reversed',
        isDue: (row: StoredJobRow) => row.outcome === 'changed',
        intentOf(row: StoredJobRow, listing: StockRow | undefined) {
          if (!listing) throw missing('listing', row.listing_id!)
          return isAsApplied(job, row, listing) ? reversalOf(row) : reason('changed_since_job')
        },
      } as const
      await changeListings(ctx, tx, note, step, (row, judged) => rows.push(jobRow(row, judged)))
      const undone = await finishJob(tx, job.id, { state: 'undone', undone_at: now })
      const { reversed, kept, failed } = undone
      note.audit({ action: 'price_job.undo', subject: 'price_job', id: job.id, after: { reversed, kept, failed } })
      return { ...jobSummary(ctx, undone), rows }
    }),
)
