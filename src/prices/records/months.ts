// Monthly partitions of the price history, created when a price of that month first arrives.
import { sql } from 'kysely'
import { monthAfter } from '#core/time.ts'
import { priceMonthTable } from '#db/price-months.ts'
import type { Db, Queryable, Tx } from '#db/schema.ts'

const existing = new WeakMap<Db, Set<string>>()

/**
 * Creates the partitions for these times (epoch milliseconds). A missing one is created in a separate transaction, because attaching a partition
 * blocks others until it commits. Whether it exists is checked in the caller's transaction, so that writers that wait for each other do not
 * also wait for connections.
 */
export async function ensureMonths(db: Db, tx: Queryable, times: Iterable<number>): Promise<void> {
  const months = existing.get(db) ?? existing.set(db, new Set()).get(db)!
  const missing = monthsOf(times).filter((month) => !months.has(month))
  if (missing.length === 0) return
  const { rows } = await sql<{ month: string }>`
    select month from unnest(${missing}::text[]) as month
    where to_regclass('price_points_' || replace(month, '-', '_')) is not null`.execute(tx)
  const there = new Set(rows.map((row) => row.month))
  for (const month of missing) {
    if (!there.has(month)) await attach(db, month)
    months.add(month)
  }
}

/** Creates the partitions of this month and the next ahead of time. */
export function prepareMonths(db: Db, now: Date): Promise<void> {
  const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)
  return ensureMonths(db, db.kysely, [now.getTime(), next])
}

/** Months such as `2026-11`, each once. */
function monthsOf(times: Iterable<number>): string[] {
  const months = new Set<string>()
  let lastFrom = Infinity
  let lastTo = -Infinity
  for (const time of times) {
    if (time >= lastFrom && time < lastTo) continue
    const date = new Date(time)
    lastFrom = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
    lastTo = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
    months.add(new Date(lastFrom).toISOString().slice(0, 7))
  }
  return [...months]
}

/** Creates the partition for a single price in the caller's transaction; other transactions that create a month wait until it ends. */
export function ensureMonth(tx: Tx, time: number): Promise<void> {
  return attachIn(tx, new Date(time).toISOString().slice(0, 7))
}

function attach(db: Db, month: string): Promise<void> {
  return db.kysely.transaction().execute((tx) => attachIn(tx, month))
}

async function attachIn(tx: Tx, month: string): Promise<void> {
  const table = priceMonthTable(month)
  // Reads the system catalogue directly: to_regclass may return a result cached before the lock was acquired.
  const isThere = async () => {
    const { rows } = await sql<{ there: boolean }>`
      select exists (select from pg_class where relname = ${table} and pg_table_is_visible(oid)) as there`.execute(tx)
    return rows[0]!.there
  }
  if (await isThere()) return
  await sql`select pg_advisory_xact_lock(hashtextextended('price_points months', 0))`.execute(tx)
  if (await isThere()) return
  await sql.raw(`create table ${table} (like price_points including all)`).execute(tx)
  await sql.raw(`alter table price_points attach partition ${table} for values from ('${month}-01Z') to ('${monthAfter(month)}-01Z')`).execute(tx)
}
