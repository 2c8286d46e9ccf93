// Monthly partitions of the price history, made when a price of that month first arrives.
import { sql } from 'kysely'
import type { Db } from '#db/schema.ts'

const known = new WeakMap<Db, Set<string>>()

/**
 * Makes the partitions that hold these times (epoch milliseconds). Runs beside the transaction that needs them, since
 * attaching a partition locks others out only for the moment of its own commit.
 */
export async function ensureMonths(db: Db, times: Iterable<number>): Promise<void> {
  const months = known.get(db) ?? known.set(db, new Set()).get(db)!
  const missing = new Set<string>()
  let lastFrom = Infinity
  let lastTo = -Infinity
  for (const time of times) {
    if (time >= lastFrom && time < lastTo) continue
    const date = new Date(time)
    lastFrom = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
    lastTo = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
    const month = new Date(lastFrom).toISOString().slice(0, 7)
    if (!months.has(month)) missing.add(month)
  }
  for (const month of missing) {
    await attach(db, month)
    months.add(month)
  }
}

async function attach(db: Db, month: string): Promise<void> {
  const [year, number] = month.split('-').map(Number) as [number, number]
  const next = new Date(Date.UTC(year, number, 1)).toISOString().slice(0, 10)
  const table = `price_points_${month.replace('-', '_')}`
  await db.kysely.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended('price_points months', 0))`.execute(tx)
    const there = await sql<{ there: boolean }>`select to_regclass(${table}) is not null as there`.execute(tx)
    if (there.rows[0]!.there) return
    await sql.raw(`create table ${table} (like price_points including all)`).execute(tx)
    await sql.raw(`alter table price_points attach partition ${table} for values from ('${month}-01Z') to ('${next}Z')`).execute(tx)
  })
}
