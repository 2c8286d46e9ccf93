// What follows an item when it is merged, besides its prices, and rows that a merge of release 0.2.0 has recorded.
import { sql } from 'kysely'
import { type MovedRows, recordRows } from '#db/merged-rows.ts'
import type { Tx } from '#db/schema.ts'
import { LISTINGS } from '#market/merged-listings.ts'

/** Which source records the item has. Undoing restores them first, because they determine the refs of both items. */
export const ITEM_SOURCES: MovedRows = { table: 'item_sources', key: ['record_id'] }

/** A collection may contain two copies of one card; nobody can have watched a merged item, so its watches can always move back. */
export const MOVED_ROWS: readonly MovedRows[] = [
  { table: 'item_foreign_ids', key: ['source', 'foreign_id', 'finish'] },
  { table: 'held_prices', unchanged: ['decision'] },
  LISTINGS,
  { table: 'sales' },
  { table: 'collection_items' },
  { table: 'watches' },
]

/** Tables of 0.2.0, whose nodes still merge during an upgrade: the name and content of their rows in `merged_rows`. */
const EARLIER = [
  ['merged_foreign_ids', 'item_foreign_ids', `to_jsonb(q) - 'merge_id' - 'moved'`, 'moved'],
  ['merged_sources', 'item_sources', `to_jsonb(q) - 'merge_id' - 'moved'`, 'moved'],
  ['merged_prices', 'prices', `to_jsonb(q) - 'merge_id'`, 'exists (select from merges m where (m.id, m.from_item) = (q.merge_id, q.item_id))'],
  ['merged_held_prices', 'held_prices', `jsonb_build_object('id', held_id, 'decision', decision)`, 'true'],
  ['merged_listings', 'listings', `jsonb_build_object('id', listing_id)`, 'true'],
  ['merged_sales', 'sales', `jsonb_build_object('id', sale_id)`, 'true'],
  ['merged_records', 'collection_items', `jsonb_build_object('id', record_id)`, 'true'],
] as const

/** Moves what nodes of 0.2.0 have recorded to `merged_rows`; the caller holds `lockIdentity`. */
export async function adoptEarlierRows(tx: Tx): Promise<void> {
  const taken = EARLIER.map(
    ([table, name, content, placed]) =>
      `${name} as (delete from ${table} q returning q.merge_id, '${name}' as name, ${content} as content, ${placed} as placed)`,
  )
  await recordRows(tx, sql.raw(taken.join(', ')), sql.raw(EARLIER.map(([, name]) => `select * from ${name}`).join(' union all ')))
}
