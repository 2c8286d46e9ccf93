// Shared by all price formats: converts lines of a feed to rows, at least one row for every line read.
import type { FeedLine } from '#core/files/feed.ts'
import { FeedError } from '#core/files/feed.ts'
import { type Reason, reason } from '#core/problems.ts'
import type { FeedRow, PriceRow } from '#prices/records/feed-rows.ts'
import type { Cell } from './cells.ts'

/** A price before its amount and time are validated. */
export type PriceOwner = Pick<PriceRow, 'line' | 'item' | 'market' | 'label' | 'currency' | 'figures'>

/** Rows of the lines of a feed; `read` adds the results of a line to `rows`, and a line without results is `none`. */
export async function* feedRows<T>(
  lines: AsyncIterable<FeedLine<T>[]>,
  read: (value: T, line: number, rows: FeedRow[]) => void,
): AsyncIterable<FeedRow[]> {
  for await (const batch of lines) {
    const rows: FeedRow[] = []
    for (const entry of batch) {
      const before = rows.length
      if ('reject' in entry) rows.push(entry)
      else read(entry.value, entry.line, rows)
      if (rows.length === before) rows.push({ line: entry.line, none: true })
    }
    yield rows
  }
}

/**
 * Adds a price, or the reason for a rejection; nothing if there is no price.
 * @param time of a price that must have one: a missing time is rejected
 */
export function addPrice(rows: FeedRow[], owner: PriceOwner, price: Cell, time: Cell): void {
  if (price === null) return
  const { figures, ...rest } = owner
  const { line } = rest
  if (typeof price === 'object') rows.push({ line, reject: price })
  else if (time === null) rows.push({ line, reject: reason('lacks', { thing: 'price', field: 'date' }) })
  else if (typeof time === 'object') rows.push({ line, reject: time })
  else rows.push({ ...rest, priceMinor: price, updatedAtMs: time, ...(figures && { figures }) })
}

/** Passes the lines on if at least one of the first batch has this format; otherwise throws `FeedError`. */
export async function* requireFormat<T>(
  lines: AsyncIterable<FeedLine<T>[]>,
  isOfFormat: (value: T) => boolean,
  expected: Reason,
): AsyncIterable<FeedLine<T>[]> {
  let first = true
  for await (const batch of lines) {
    if (first && !batch.some((entry) => 'value' in entry && isOfFormat(entry.value))) throw new FeedError(expected)
    first = false
    yield batch
  }
  if (first) throw new FeedError(reason('file_empty'))
}
