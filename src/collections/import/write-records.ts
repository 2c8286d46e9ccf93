// Adds the matched rows of a file to a collection as records; rows that are there already add nothing.
import { sql } from 'kysely'
import { invalid } from '#core/errors.ts'
import { runInSlices } from '#core/yield-to-event-loop.ts'
import type { Tx } from '#db/schema.ts'
import { insertRecords, type NewRecord } from '../records/insert-records.ts'
import type { CollectionEntry } from './entries.ts'
import { ExistingRecords } from './existing-records.ts'
import type { MatchedRow } from './read-file.ts'

/** What became of a row. An unmatched one `isParked` if it has been parked earlier. */
export type WrittenRow =
  | { outcome: 'added'; row: MatchedRow; recordId: number }
  | { outcome: 'unchanged'; row: MatchedRow }
  | { outcome: 'unmatched'; row: Extract<MatchedRow, { why: unknown }>; isParked: boolean }

type Sorted = Exclude<WrittenRow, { outcome: 'added' }> | { outcome: 'added'; row: MatchedRow; record: NewRecord }

const INSERTED_AT_ONCE = 1_000

/** @returns what became of each row, in order */
export async function writeRecords(tx: Tx, collectionId: number, rows: readonly MatchedRow[], at: Date): Promise<WrittenRow[]> {
  const existing = await ExistingRecords.load(tx, collectionId)
  // Records that the file created earlier come first; only the remaining ones are compared by their current values.
  const covered = new Set<MatchedRow>()
  await runInSlices(rows.length, (from, to) => {
    for (const row of rows.slice(from, to)) if (existing.takeByRow(row.key)) covered.add(row)
  })
  const unparked: number[] = []
  const sorted: Sorted[] = []
  const sort = (row: MatchedRow): Sorted => {
    if (covered.has(row)) return { outcome: 'unchanged', row }
    const waiting = existing.takeParked(row.key)
    if ('why' in row) return { outcome: 'unmatched', row, isParked: waiting !== undefined }
    const record = recordOf(collectionId, row.entry, row.itemId, row.gradeId, row.key)
    if (waiting?.decided || existing.takeByContent(record)) return { outcome: 'unchanged', row }
    if (waiting) unparked.push(waiting.id)
    return { outcome: 'added', row, record }
  }
  await runInSlices(rows.length, (from, to) => {
    for (const row of rows.slice(from, to)) sorted.push(sort(row))
  })
  const ids = (
    await insertAll(
      tx,
      sorted.flatMap((one) => (one.outcome === 'added' ? [one.record] : [])),
      at,
    )
  ).values()
  if (unparked.length > 0) await sql`delete from collection_parked_rows where id = any(${unparked}::int8[])`.execute(tx)
  return sorted.map((one) => (one.outcome === 'added' ? { outcome: 'added', row: one.row, recordId: ids.next().value! } : one))
}

/** @returns the ids of the new records, in order */
async function insertAll(tx: Tx, records: readonly NewRecord[], at: Date): Promise<number[]> {
  const ids: number[] = []
  for (let from = 0; from < records.length; from += INSERTED_AT_ONCE) {
    for (const added of await insertRecords(tx, records.slice(from, from + INSERTED_AT_ONCE), at)) {
      // An item or a grade was deleted between matching and writing: store nothing; the client can send the file again.
      if ('refused' in added) throw invalid('file', 'catalogue_changed')
      ids.push(added.row.id)
    }
  }
  return ids
}

/** A row of a file as a record. */
export function recordOf(collectionId: number, entry: CollectionEntry, itemId: number, gradeId: number | null, importKey: string): NewRecord {
  const { item: _item, label: _label, currency: _currency, ...copies } = entry
  return { collectionId, ownerId: null, itemId, gradeId, ...copies, importKey }
}
