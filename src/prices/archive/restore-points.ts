// Restores points of an archived month to the database.
import { type RawBuilder, sql } from 'kysely'
import { MARKETS } from '#core/markets.ts'
import { copyIn } from '#db/copy.ts'
import type { Tx } from '#db/schema.ts'
import { ensureMonth } from '../records/months.ts'
import { lockMarkets } from '../writing/lock-markets.ts'
import { addPoints } from '../writing/points.ts'
import type { ArchivedPoint, ArchiveFile } from './archive-file.ts'

const BATCH = 20_000

/** Restores the points of a file to the price history, as if they had never left it. */
export async function restorePoints(tx: Tx, month: string, file: ArchiveFile): Promise<void> {
  await ensureMonth(tx, Date.parse(`${month}-01`))
  await sql`create temp table restored_points on commit drop as
    select item_id, market, label_id, updated_at, price, import_id from price_points with no data`.execute(tx)
  await copyIn(tx, 'copy restored_points from stdin', copyLines(file.points()))
  await sql`create index on restored_points (item_id, market, label_id, updated_at)`.execute(tx)
  await sql`analyze restored_points`.execute(tx)
  await lockMarkets(tx, MARKETS.keys())
  await followMerges(tx)
  await addPoints(
    tx,
    sql`select import_id, item_id, market, label_id, updated_at, price from restored_points r where not exists (
    select from price_points p
    where (p.item_id, p.market, p.label_id, p.updated_at, p.import_id) = (r.item_id, r.market, r.label_id, r.updated_at, r.import_id)
  )`,
  )
}

async function* copyLines(points: AsyncIterable<ArchivedPoint>): AsyncGenerator<string> {
  let lines: string[] = []
  for await (const { itemId, market, labelId, atMs, minor, importId } of points) {
    lines.push(`${itemId}\t${market}\t${labelId}\t${new Date(atMs).toISOString()}\t${minor / 100}\t${importId}\n`)
    if (lines.length === BATCH) {
      yield lines.join('')
      lines = []
    }
  }
  yield lines.join('')
}

/** Moves points of items that have been merged since then to the survivors, and records them with the merges, as merging does. */
async function followMerges(tx: Tx): Promise<void> {
  const merging = sql`restored_points r join merges m on m.from_item = r.item_id and m.undone_at is null`
  // A chain of merges takes one pass per merge.
  for (;;) {
    const { rows } = await sql`select from ${merging} limit 1`.execute(tx)
    if (rows.length === 0) return
    await sql`
      with moved as materialized (
        select r.ctid as place, m.id as merge_id, m.into_item, r.market, r.label_id, r.updated_at, r.price, r.import_id, row_number() over (
          partition by m.into_item, r.import_id, r.market, r.label_id, r.updated_at order by m.id
        ) > 1 or exists (${sameOf('restored_points')}) or exists (${sameOf('price_points')}) or exists (${sameOf('hidden_points')}) as has_it
        from ${merging}
      ), noted as (
        insert into merged_points (merge_id, import_id, market, label_id, updated_at, price, state, placed)
        select merge_id, import_id, market, label_id, updated_at, price, 'seen', not has_it from moved
        on conflict do nothing
      ), given as (
        update restored_points r set item_id = m.into_item from moved m where r.ctid = m.place and not m.has_it
      )
      delete from restored_points r using moved m where r.ctid = m.place and m.has_it`.execute(tx)
  }
}

/** The survivor's point of the same import and time. */
function sameOf(table: string): RawBuilder<unknown> {
  return sql`
    select from ${sql.table(table)} s
    where (s.item_id, s.market, s.label_id, s.updated_at, s.import_id) = (m.into_item, r.market, r.label_id, r.updated_at, r.import_id)`
}
