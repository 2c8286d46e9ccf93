// Records when items changed without a new price of their own: prices were withdrawn or reverted, or items were merged or split.
import { sql } from 'kysely'
import type { Queryable, Tx } from '#db/schema.ts'

/** Records that the shown data of these items has changed. */
export async function noteChangedItems(tx: Tx, itemIds: Iterable<number>, at: Date): Promise<void> {
  const ids = [...new Set(itemIds)]
  if (ids.length === 0) return
  // Inserts in id order, so that writers never deadlock.
  await sql`
    insert into changed_items (item_id, changed_at)
    select id, ${at}::timestamptz from unnest(${`{${ids.join(',')}}`}::int4[]) as i(id) order by id
    on conflict (item_id) do update set changed_at = excluded.changed_at`.execute(tx)
}

/** Times of these changes in epoch milliseconds, with their item ids. */
export async function loadChangedItems(on: Queryable): Promise<[itemId: number, changedAtMs: number][]> {
  const { rows } = await sql<{ item_id: number; at_ms: number }>`
    select item_id, (extract(epoch from changed_at) * 1000)::float8 as at_ms from changed_items`.execute(on)
  return rows.map((row) => [row.item_id, row.at_ms])
}

/** End of each import by id: epoch milliseconds, 0 for none. */
export async function loadImportEnds(on: Queryable): Promise<Float64Array> {
  const { rows } = await sql<{ id: number; at_ms: number }>`
    select id, (extract(epoch from finished_at) * 1000)::float8 as at_ms from imports where finished_at is not null and not dry_run`.execute(on)
  const ends = new Float64Array(rows.reduce((largest, { id }) => Math.max(largest, id), 0) + 1)
  for (const { id, at_ms } of rows) ends[id] = at_ms
  return ends
}
