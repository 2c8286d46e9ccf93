// Equal watches of items that are merged.
import { sql } from 'kysely'
import { type MergePair, pairTable } from '#db/merge-pairs.ts'
import type { Tx } from '#db/schema.ts'

/**
 * Deletes watches that an account would have twice after the merges. The survivor's own one stays, otherwise the oldest one of the first merge.
 */
export async function deleteEqualWatches(tx: Tx, pairs: readonly MergePair[]): Promise<void> {
  await sql`
    with ranked as (
      select w.id, row_number() over (
        partition by w.account_id, coalesce(m.into_item, w.item_id), w.kind, w.label_id, w.language
        order by w.removed, m.merge_id nulls first, w.id) as place
      from watches w left join ${pairTable(pairs)} on m.from_item = w.item_id
      where w.item_id in (select unnest(array[m.from_item, m.into_item]) from ${pairTable(pairs)})
    )
    delete from watches where id in (select id from ranked where place > 1)`.execute(tx)
}
