// Applies a planned price job: checks every row against the current listing and commits all rows in one transaction.
import { conflict } from '#core/errors.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { type Reason, combineProblems } from '#core/problems.ts'
import { change } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import type { StockRow } from '../listing-store.ts'
import type { MarketCtx } from '../marketplace-types.ts'
import { changeListings, intentToApply } from './change-listings.ts'
import { finishJob, firstRefused, jobRow, type StoredJobRow, jobSummary, lockJob } from './store.ts'
import type { PriceJob, PriceJobRow } from './types.ts'

export const applyPriceJob = writeVerb(
  {
    name: 'applyPriceJob',
    needs: OPERATION_PLAN.applyPriceJob,
    input: Type.Object({ id: id('price job') }),
  },
  (ctx: MarketCtx, input): Promise<PriceJob> =>
    change(ctx, async (tx, note) => {
      const now = ctx.now()
      const job = await lockJob(tx, ctx.viewer, input.id, 'planned', now)
      if (job.policy === 'all' && job.rows_refused > 0) {
        const { position, refused } = await firstRefused(tx, job.id)
        throw conflict('job_refused', { row: position, must: combineProblems(refused), count: job.rows_refused })
      }
      const by = { kind: 'price_job', id: job.id, at: now.toISOString() } as const
      const rows: PriceJobRow[] = []
      const step = {
        job,
        outcome: 'changed',
        isDue: (row: StoredJobRow) => row.refused === null,
        intentOf: (row: StoredJobRow, listing: StockRow | undefined) => intentToApply(row, listing, by),
      } as const
      const left: { row: number; must: Reason }[] = []
      await changeListings(ctx, tx, note, step, (row, judged) => {
        if (judged?.why) left.push({ row: row.position, must: judged.why })
        rows.push(jobRow(row, judged))
      })
      if (job.policy === 'all' && left[0]) throw conflict('job_refused', { ...left[0], count: left.length })
      const applied = await finishJob(tx, job.id, { state: 'applied', applied_at: now })
      const { changed, kept, failed } = applied
      note.audit({ action: 'price_job.apply', subject: 'price_job', id: job.id, after: { changed, kept, failed } })
      return { ...jobSummary(ctx, applied), rows }
    }),
)
