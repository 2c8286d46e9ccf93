// Restores points of an archived month to the database.
import { sql } from 'kysely'
import { MARKETS } from '#core/markets.ts'
import { copyIn } from '#db/copy.ts'
import type { MergePair } from '#db/merge-pairs.ts'
import type { Tx } from '#db/schema.ts'
import { ensureMonth } from '../records/months.ts'
import { lockMarkets } from '../writing/lock-markets.ts'
import { movePoints } from '../writing/merged-prices.ts'
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
  const sameStored = sql`
    select from price_points p
    where (p.item_id, p.market, p.label_id, p.updated_at, p.import_id) = (r.item_id, r.market, r.label_id, r.updated_at, r.import_id)`
  await addPoints(tx, sql`select import_id, item_id, market, label_id, updated_at, price from restored_points r where not exists (${sameStored})`)
  await followMerges(tx)
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

/** Moves points of items that have been merged since then to the survivors, as merging does: along a chain of merges, one after the other. */
async function followMerges(tx: Tx): Promise<void> {
  let emptied = sql`select item_id from restored_points`
  for (;;) {
    const { rows } = await sql<MergePair>`
      select id as "mergeId", from_item as "fromId", into_item as "intoId" from merges
      where undone_at is null and from_item in (${emptied}) order by id`.execute(tx)
    if (rows.length === 0) return
    await movePoints(tx, rows)
    emptied = sql`select unnest(${rows.map(({ intoId }) => intoId)}::int4[])`
  }
}
