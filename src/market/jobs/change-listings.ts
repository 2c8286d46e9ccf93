// Writes the listings of a job's rows in the caller's transaction: each is judged by the rules of a single change, all are written as one.
import { ServiceError } from '#core/errors.ts'
import { parseMinor } from '#core/money.ts'
import { type Reason, together } from '#core/problems.ts'
import { inSlices } from '#core/slices.ts'
import type { Note } from '#db/change.ts'
import type { ChangedBy, Tx } from '#db/schema.ts'
import { type NewStock, noteChange, withNewStock } from '../change-stock.ts'
import { endedIfAnyOver } from '../expire-listings.ts'
import { lockStock, type StockRow, updateStock } from '../store.ts'
import type { MarketCtx } from '../types.ts'
import type { JobRowRow, Judged } from './store.ts'

/** What a row does to its listing as it is now, or why the listing stays as it is. */
type Intent = { change: NewStock; by: ChangedBy | null } | Reason

/**
 * @param intentOf throws what makes a row fail; a listing that was deleted is not given
 * @param outcome of rows whose listing was written
 * @returns what became of each row, by position
 */
export async function changeListings(
  ctx: MarketCtx,
  { tx, note, outcome }: { tx: Tx; note: Note; outcome: 'changed' | 'reversed' },
  rows: readonly JobRowRow[],
  intentOf: (row: JobRowRow, listing: StockRow | undefined) => Intent,
): Promise<Map<number, Judged>> {
  const locked = await lockStock(
    tx,
    rows.map((row) => row.listing_id!),
  )
  const listings = await endedIfAnyOver(tx, note, ctx, locked)
  const changed: StockRow[] = []
  const outcomes = new Map<number, Judged>()
  const judge = (row: JobRowRow): Judged => {
    const before = listings.get(row.listing_id!)
    try {
      const intent = intentOf(row, before)
      if ('rule' in intent) return { outcome: 'kept', why: intent }
      const after = withNewStock(before!, intent.change, intent.by)
      changed.push(after)
      noteChange(note, before!, after, intent.change)
      return { outcome, why: null, old_changed_by: before!.changed_by }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return { outcome: 'failed', why: 'rule' in error.why ? error.why : together(error.why) }
    }
  }
  await inSlices(rows.length, (from, to) => {
    for (const row of rows.slice(from, to)) outcomes.set(row.position, judge(row))
  })
  await updateStock(tx, changed, ctx.now())
  return outcomes
}

/** Whether the fields that a row changes are as they were when it was planned. */
export function isAsPlanned(row: JobRowRow, listing: StockRow): boolean {
  return (row.new_price === null || listing.price === row.old_price) && (row.new_quantity === null || listing.quantity === row.old_quantity)
}

/** Whether the fields that a row has changed are as it left them. */
export function isAsLeft(row: JobRowRow, listing: StockRow): boolean {
  return (row.new_price === null || listing.price === row.new_price) && (row.new_quantity === null || listing.quantity === row.new_quantity)
}

/** What a row changes. */
export function changeOf({ new_price: price, new_quantity: quantity }: JobRowRow): NewStock {
  return { ...(price !== null && { kurus: parseMinor(price)! }), ...(quantity !== null && { quantity }) }
}

/** What reverses a row. */
export function reversalOf(row: JobRowRow): NewStock {
  return {
    ...(row.new_price !== null && { kurus: parseMinor(row.old_price!)! }),
    ...(row.new_quantity !== null && { quantity: row.old_quantity! }),
  }
}
