// Writes the points of the price history that a batch adds or replaces, and restores replaced ones.
import { type RawBuilder, sql } from 'kysely'
import { BinaryRows, copyIn } from '#db/copy.ts'
import type { Tx } from '#db/schema.ts'
import { violatedIndex } from '#db/unique.ts'
import { ensureMonths } from '../records/months.ts'
import type { PriceBatch } from '../records/price-batch.ts'
import { batchTable, type Write } from './batch-table.ts'

/** Below this number of points, a COPY is not worth its round trips. */
const COPY_POINTS = 500

/**
 * Adds points to the history.
 * @param newest later than the current price of their key, so normally without an existing point at their time
 * @param older may conflict with an existing point
 */
export async function insertPoints(write: Write, batch: PriceBatch, newest: number[], older: number[]): Promise<void> {
  if (newest.length + older.length === 0) return
  await ensureMonths(
    write.db,
    write.tx,
    [...newest, ...older].map((i) => batch.updatedAtMs[i]!),
  )
  const copied = newest.length >= COPY_POINTS && (await copyPoints(write, batch, newest))
  await mergePoints(write, batch, copied ? older : [...newest, ...older])
}

async function mergePoints(write: Write, batch: PriceBatch, points: readonly number[]): Promise<void> {
  if (points.length === 0) return
  await sql`
    insert into price_points (item_id, market, label_id, updated_at, price, import_id)
    select item_id, market, label_id, to_timestamp(at_ms / 1000), price, ${write.importId}::int4 from ${batchTable(batch, points)}
    on conflict (item_id, market, label_id, updated_at) do update
      set price = excluded.price, import_id = excluded.import_id`.execute(write.tx)
}

/** Adds points by COPY, which takes half as long as an insert with conflict handling. @returns false, having added nothing, on a conflict */
async function copyPoints(write: Write, { itemId, market, labelId, updatedAtMs, minor }: PriceBatch, points: readonly number[]): Promise<boolean> {
  const rows = new BinaryRows()
  for (const i of points) {
    rows.begin(6).int4(itemId[i]!).int2(market[i]!).int4(labelId[i]!).time(updatedAtMs[i]!).minor(minor[i]!).int4(write.importId)
  }
  const copy = 'copy price_points (item_id, market, label_id, updated_at, price, import_id) from stdin (format binary)'
  await sql`savepoint copied_points`.execute(write.tx)
  try {
    await copyIn(write.tx, copy, [rows.end()])
    await sql`release savepoint copied_points`.execute(write.tx)
    return true
  } catch (error) {
    if (violatedIndex(error) === null) throw error
    await sql`rollback to savepoint copied_points`.execute(write.tx)
    return false
  }
}

/** Replaces the point at the same time; the replaced point is kept in case the new one is reverted. */
export async function cover(write: Write, batch: PriceBatch, points: readonly number[]): Promise<void> {
  if (points.length === 0) return
  await sql`
    insert into hidden_points (import_id, item_id, market, label_id, updated_at, price, withdrawn)
    select p.import_id, g.item_id, g.market, g.label_id, p.updated_at, p.price, false
    from ${batchTable(batch, points)} cross join lateral (
      select h.updated_at, h.price, h.import_id from price_points h
      where h.item_id = g.item_id and h.market = g.market and h.label_id = g.label_id
        and h.updated_at = to_timestamp(g.at_ms / 1000) and h.import_id <> ${write.importId}::int4
      offset 0
    ) p
    on conflict (import_id, item_id, market, label_id, updated_at) do update
      set price = excluded.price, withdrawn = false`.execute(write.tx)
}

/**
 * Restores the points of other batches at the times of the removed points.
 * @param gone SQL of a table `d` with the keys and times of the removed points
 */
export async function restoreCoveredPoints(tx: Tx, gone: RawBuilder<unknown>): Promise<void> {
  await sql`
    with covered as (
      select distinct on (h.item_id, h.market, h.label_id, h.updated_at) h.*
      from ${gone} join hidden_points h on (h.item_id, h.market, h.label_id, h.updated_at) = (d.item_id, d.market, d.label_id, d.updated_at)
      where not h.withdrawn
      order by h.item_id, h.market, h.label_id, h.updated_at, h.import_id desc
    ), seen as (
      insert into price_points (item_id, market, label_id, updated_at, price, import_id)
      select item_id, market, label_id, updated_at, price, import_id from covered
      on conflict do nothing
      returning import_id, item_id, market, label_id, updated_at
    )
    delete from hidden_points h using seen s
    where (h.import_id, h.item_id, h.market, h.label_id, h.updated_at) = (s.import_id, s.item_id, s.market, s.label_id, s.updated_at)`.execute(tx)
}

/**
 * Adds points of several imports: of two points of the same time, the one of the later import is visible and covers the other.
 * @param points SQL that selects `import_id, item_id, market, label_id, updated_at, price`, none of which the history already has
 */
export async function addPoints(tx: Tx, points: RawBuilder<unknown>): Promise<void> {
  await sql`
    with covered as (
      delete from price_points p using (${points}) a
      where (p.item_id, p.market, p.label_id, p.updated_at) = (a.item_id, a.market, a.label_id, a.updated_at) and p.import_id < a.import_id
      returning p.import_id, p.item_id, p.market, p.label_id, p.updated_at, p.price
    )
    insert into hidden_points (import_id, item_id, market, label_id, updated_at, price, withdrawn)
    select *, false from covered
    on conflict (import_id, item_id, market, label_id, updated_at) do update set price = excluded.price, withdrawn = false`.execute(tx)
  await sql`
    with added as materialized (${points}), seen as (
      insert into price_points (import_id, item_id, market, label_id, updated_at, price) select * from added order by import_id desc
      on conflict do nothing
      returning import_id, item_id, market, label_id, updated_at, price
    )
    -- Not a join: without statistics about points that were just recorded, the planner would compare each with each.
    insert into hidden_points (import_id, item_id, market, label_id, updated_at, price, withdrawn)
    select *, false from (select * from added except select * from seen) others
    on conflict do nothing`.execute(tx)
}
