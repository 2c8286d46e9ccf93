// Source record part of a merge: moves the records of the emptied item to the survivor, or back.
import { sql } from 'kysely'
import { mergeIds, type MergePair, pairTable } from '#db/merge-pairs.ts'
import type { Tx } from '#db/schema.ts'

/** Links the records of the emptied items to the survivors. */
export async function moveSources(tx: Tx, pairs: readonly MergePair[]): Promise<void> {
  await sql`
    with gone as (
      delete from item_sources s using ${pairTable(pairs)} where s.item_id = m.from_item
      returning m.merge_id, m.into_item, s.record_id, s.whole, s.method, s.confidence, s.decided_by, s.decided_at
    ), added as (
      insert into item_sources (record_id, item_id, whole, method, confidence, decided_by, decided_at)
      select distinct on (record_id, into_item) record_id, into_item, whole, method, confidence, decided_by, decided_at from gone
      on conflict do nothing
      returning record_id, item_id
    )
    insert into merged_sources (merge_id, record_id, whole, method, confidence, decided_by, decided_at, moved)
    select g.merge_id, g.record_id, g.whole, g.method, g.confidence, g.decided_by, g.decided_at, a.record_id is not null
    from gone g left join added a on a.record_id = g.record_id and a.item_id = g.into_item`.execute(tx)
}

/** Links the records of items that a merge emptied to them again. */
export async function moveSourcesBack(tx: Tx, pairs: readonly MergePair[]): Promise<void> {
  await sql`
    delete from item_sources s using ${pairTable(pairs)} join merged_sources x on x.merge_id = m.merge_id
    where x.moved and s.record_id = x.record_id and s.item_id = m.into_item`.execute(tx)
  await sql`
    insert into item_sources (record_id, item_id, whole, method, confidence, decided_by, decided_at)
    select x.record_id, m.from_item, x.whole, x.method, x.confidence, x.decided_by, x.decided_at
    from ${pairTable(pairs)} join merged_sources x on x.merge_id = m.merge_id
    on conflict do nothing`.execute(tx)
  await sql`delete from merged_sources where merge_id = any(${mergeIds(pairs)})`.execute(tx)
}
