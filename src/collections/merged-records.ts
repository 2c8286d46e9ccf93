// Moves collection records of the emptied item to the survivor when items are merged, and back.
import { sql } from 'kysely'
import { mergeIds, type MergePair, pairTable } from '#db/merge-pairs.ts'
import type { Tx } from '#db/schema.ts'

/** Moves the records to the survivors unchanged: a collection may contain two copies of one card. */
export async function moveRecords(tx: Tx, pairs: readonly MergePair[]): Promise<void> {
  await sql`
    with moved as (
      update collection_items r set item_id = m.into_item from ${pairTable(pairs)} where r.item_id = m.from_item
      returning m.merge_id, r.id
    )
    insert into merged_records (merge_id, record_id) select merge_id, id from moved`.execute(tx)
}

/** Moves records of undone merges back, if they still exist. */
export async function moveRecordsBack(tx: Tx, pairs: readonly MergePair[]): Promise<void> {
  await sql`
    update collection_items r set item_id = m.from_item
    from ${pairTable(pairs)} join merged_records x on x.merge_id = m.merge_id
    where r.id = x.record_id and r.item_id = m.into_item`.execute(tx)
  await sql`delete from merged_records where merge_id = any(${mergeIds(pairs)})`.execute(tx)
}
