// Writes the listings of a job's rows in the caller's transaction: each row is checked by the rules of a single change; all are written in batches.
import { ServiceError } from '#core/errors.ts'
import { missing } from '#core/fields.ts'
import { parseMinor } from '#core/money.ts'
import { type Reason, reason, combineProblems } from '#core/problems.ts'
import { runInSlices } from '#core/yield-to-event-loop.ts'
import type { Note } from '#db/changes/change.ts'
import type { ChangedBy, Tx } from '#db/schema.ts'
import { type NewStock, noteChange, withNewStock } from '../listings/change-stock.ts'
import { expireAllDue } from '../listings/expire-listings.ts'
import { type ChangeVersions, lockStock, type StockRow, updateStock } from '../listing-store.ts'
import type { MarketCtx } from '../marketplace-types.ts'
import { type JobRow, type StoredJobRow, type RowResult, lockListingsOf, rowsOfJob, saveOutcomes } from './store.ts'

/** The change that a row makes to the current listing, or why the listing stays unchanged. */
type Intent = { change: NewStock; by: ChangedBy | null; marks?: Partial<ChangeVersions> } | Reason

/** A step of a job that changes listings: it applies the job or undoes it. */
interface Step {
  job: JobRow
  outcome: 'changed' | 'reversed'
  /** whether this step processes the row */
  isDue: (row: StoredJobRow) => boolean
  /** throws with the reason if the row fails; `listing` is undefined if it was deleted */
  intentOf: (row: StoredJobRow, listing: StockRow | undefined) => Intent
}

/**
 * Locks all listings of a step, then writes them in batches: holding 10,000 listings in memory at once would cause long garbage collection pauses.
 * @param visit called for each row of the job in order, with its outcome
 */
export async function changeListings(
  ctx: MarketCtx,
  tx: Tx,
  note: Note,
  step: Step,
  visit: (row: StoredJobRow, judged: RowResult | undefined) => void,
): Promise<void> {
  await lockListingsOf(tx, step.job.id)
  for await (const rows of rowsOfJob(tx, step.job.id)) {
    const outcomes = await changeSome(ctx, tx, note, step, rows.filter(step.isDue))
    await runInSlices(rows.length, (from, to) => {
      for (const row of rows.slice(from, to)) visit(row, outcomes.get(row.position))
    })
  }
}

async function changeSome(ctx: MarketCtx, tx: Tx, note: Note, { job, outcome, intentOf }: Step, rows: readonly StoredJobRow[]) {
  const outcomes = new Map<number, RowResult>()
  if (rows.length === 0) return outcomes
  const listings = await lockStock(
    tx,
    rows.map((row) => row.listing_id!),
  )
  await expireAllDue(tx, note, ctx, listings)
  const changed: StockRow[] = []
  const judge = (row: StoredJobRow): RowResult => {
    const before = listings.get(row.listing_id!)
    try {
      const intent = intentOf(row, before)
      if ('rule' in intent) return { outcome: 'kept', why: intent }
      const after = { ...withNewStock(before!, intent.change, intent.by), ...intent.marks }
      changed.push(after)
      noteChange(note, before!, after, intent.change)
      return { outcome, why: null, ...(outcome === 'changed' && marksOf(before!, after)) }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return { outcome: 'failed', why: 'rule' in error.why ? error.why : combineProblems(error.why) }
    }
  }
  await runInSlices(rows.length, (from, to) => {
    for (const row of rows.slice(from, to)) outcomes.set(row.position, judge(row))
  })
  await updateStock(tx, changed, ctx.now())
  await saveOutcomes(tx, job.id, outcomes)
  await note.flush()
  return outcomes
}

/** Changes for applying a row as planned. */
export function intentToApply(row: StoredJobRow, listing: StockRow | undefined, by: ChangedBy): Intent {
  if (!listing) throw missing('listing', row.listing_id!)
  return isAsPlanned(row, listing) ? { change: changeOf(row), by } : reason('changed_since_plan')
}

/** Whether the fields that a row changes still have the values they had when the job was planned. */
function isAsPlanned(row: StoredJobRow, listing: StockRow): boolean {
  return (row.new_price === null || listing.price === row.old_price) && (row.new_quantity === null || listing.quantity === row.old_quantity)
}

/** What an undo compares and restores, besides price and stock. */
function marksOf(before: StockRow, after: StockRow) {
  return {
    old_changed_by: before.changed_by,
    old_priced_version: before.priced_version,
    old_stocked_version: before.stocked_version,
    new_version: after.version,
  }
}

/** Whether the fields that a row changed have not been changed since, and not sold: a value may have been changed and changed back. */
export function isAsApplied(job: JobRow, row: StoredJobRow, listing: StockRow): boolean {
  const { new_price: price, new_quantity: quantity, new_version: version } = row
  const sameValues = (price === null || listing.price === price) && (quantity === null || listing.quantity === quantity)
  if (!sameValues) return false
  // An earlier release recorded no versions, but the author of the listing's last change.
  if (version === null) return isLastAuthor(job, listing.changed_by)
  return (price === null || listing.priced_version === version) && (quantity === null || listing.stocked_version === version)
}

function isLastAuthor(job: JobRow, by: ChangedBy | null): boolean {
  const [kind, id] = job.rule_id === null ? ['price_job', job.id] : ['repricing_rule', job.rule_id]
  return by !== null && by.kind === kind && by.id === id && by.at === job.applied_at?.toISOString()
}

/** The change that a row makes. */
function changeOf({ new_price: price, new_quantity: quantity }: StoredJobRow): NewStock {
  return { ...(price !== null && { kurus: parseMinor(price)! }), ...(quantity !== null && { quantity }) }
}

/** The change that reverses a row, so that an earlier job can be undone next. */
export function reversalOf(row: StoredJobRow): Intent {
  const [price, stock] = [row.new_price !== null, row.new_quantity !== null]
  return {
    change: { ...(price && { kurus: parseMinor(row.old_price!)! }), ...(stock && { quantity: row.old_quantity! }) },
    by: row.old_changed_by,
    marks: { ...(price && { priced_version: row.old_priced_version }), ...(stock && { stocked_version: row.old_stocked_version }) },
  }
}
