// Points of an archived month as dumps have them: of the items that they belong to now, without those that the database has anew.
import { sql } from 'kysely'
import type { Tx } from '#db/schema.ts'
import type { ArchivedPoint } from '#prices/archive/archive-file.ts'

const BATCH = 20_000

/** Batches of stored rows, as `selectPoints` reads them. */
export async function* archivedRows(tx: Tx, points: AsyncIterable<ArchivedPoint>): AsyncGenerator<unknown[]> {
  let batch: ArchivedPoint[] = []
  for await (const point of points) {
    batch.push(point)
    if (batch.length < BATCH) continue
    yield await storedRows(tx, batch)
    batch = []
  }
  if (batch.length > 0) yield await storedRows(tx, batch)
}

async function storedRows(tx: Tx, points: readonly ArchivedPoint[]): Promise<unknown[]> {
  const { rows } = await sql`
    select a.item_id, a.market, l.name as label, (a.minor::numeric / 100)::numeric(12, 2)::text as price, a.at_ms
    from (
      select case when exists (select from item_aliases where old_id = given.item_id) then live_item(given.item_id) else given.item_id end as item_id,
        market, label_id, at_ms, minor, n
      from unnest(${points.map((point) => point.itemId)}::int4[], ${points.map((point) => point.market)}::int2[],
        ${points.map((point) => point.labelId)}::int4[], ${points.map((point) => point.atMs)}::float8[],
        ${points.map((point) => point.minor)}::int8[]) with ordinality as given(item_id, market, label_id, at_ms, minor, n)
    ) a join groups l on l.id = a.label_id
    where not exists (
      select from price_points p
      where (p.item_id, p.market, p.label_id) = (a.item_id, a.market, a.label_id) and p.updated_at = to_timestamp(a.at_ms / 1000)::timestamptz(3)
    )
    order by n`.execute(tx)
  return rows
}
