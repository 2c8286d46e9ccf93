// Points of an archived month in the format of dumps: with the current items, and without points that were restored to the database.
import { type RawBuilder, sql } from 'kysely'
import type { Tx } from '#db/schema.ts'
import type { ArchivedPoint, ArchiveFile } from '#prices/archive/archive-file.ts'
import { withoutCovered } from '#prices/archive/price-archive.ts'

const BATCH = 20_000

/**
 * Batches of rows in the format of `selectPoints`.
 * @param where condition on a row `p`
 */
export async function* archivedRows(tx: Tx, file: ArchiveFile, where: RawBuilder<unknown>): AsyncGenerator<unknown[]> {
  let batch: ArchivedPoint[] = []
  for await (const point of pointsAsMerged(file, await mergedItems(tx))) {
    batch.push(point)
    if (batch.length < BATCH) continue
    yield await storedRows(tx, batch, where)
    batch = []
  }
  if (batch.length > 0) yield await storedRows(tx, batch, where)
}

/** By survivor: its own id, followed by the items merged into it, earliest merge first. */
async function mergedItems(tx: Tx): Promise<Map<number, number[]>> {
  const { rows } = await sql<{ survivor: number; merged: number[] }>`
    select live_item(from_item) as survivor, array_agg(from_item order by id) as merged from merges where undone_at is null group by 1`.execute(tx)
  return new Map(rows.map(({ survivor, merged }) => [survivor, [survivor, ...merged]]))
}

/** Yields points of merged items last, under their survivor's id and without duplicates of the same moment. */
async function* pointsAsMerged(file: ArchiveFile, merged: ReadonlyMap<number, readonly number[]>): AsyncGenerator<ArchivedPoint> {
  const apart = new Set([...merged.values()].flat())
  for await (const point of file.points()) if (!apart.has(point.itemId)) yield point
  for (const [survivor, ids] of merged) {
    for (const point of withoutCovered(await file.pointsOf(ids), ids)) yield { ...point, itemId: survivor }
  }
}

async function storedRows(tx: Tx, points: readonly ArchivedPoint[], where: RawBuilder<unknown>): Promise<unknown[]> {
  const { rows } = await sql`
    select p.item_id, p.market, l.name as label, (p.minor::numeric / 100)::numeric(12, 2)::text as price, p.at_ms
    from unnest(${points.map((point) => point.itemId)}::int4[], ${points.map((point) => point.market)}::int2[],
      ${points.map((point) => point.labelId)}::int4[], ${points.map((point) => point.atMs)}::float8[],
      ${points.map((point) => point.minor)}::int8[]) with ordinality as p(item_id, market, label_id, at_ms, minor, n)
    join groups l on l.id = p.label_id
    where ${where} and not exists (
      select from price_points s
      where (s.item_id, s.market, s.label_id) = (p.item_id, p.market, p.label_id) and s.updated_at = to_timestamp(p.at_ms / 1000)::timestamptz(3)
    )
    order by n`.execute(tx)
  return rows
}
