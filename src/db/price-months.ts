// The months that the price history has partitions for.
import { sql } from 'kysely'
import type { Queryable, Tx } from './schema.ts'

const MONTH_TABLE = /^price_points_(\d{4})_(\d{2})$/

/** The partition of a month such as `2026-11`. */
export function priceMonthTable(month: string): string {
  return `price_points_${month.replace('-', '_')}`
}

/** Months such as `2026-11`, oldest first. */
export async function priceMonths(db: Queryable): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select c.relname::text as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'price_points'::regclass order by 1`.execute(db)
  return rows.flatMap(({ name }) => {
    const match = MONTH_TABLE.exec(name)
    return match ? [`${match[1]}-${match[2]}`] : []
  })
}

/**
 * Prevents months from being truncated while a transaction reads the history from one snapshot; call it before the first read. A
 * truncated table is empty for older snapshots, too.
 */
export async function holdPriceMonths(tx: Tx): Promise<void> {
  await sql`lock table price_points in access share mode`.execute(tx)
}
