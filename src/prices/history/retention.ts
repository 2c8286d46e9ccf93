// Retention of the price history, by whole months because the partition of a month can be emptied at once, and of statements of imports.
import { sql } from 'kysely'
import { DAY_MS } from '#core/duration.ts'
import { priceMonths, priceMonthTable } from '#db/price-months.ts'
import type { Db } from '#db/schema.ts'
import { forgetMonths } from '#files/month-archive.ts'
import { monthsOfPrices } from '../archive/archive-months.ts'
import type { PriceArchive } from '../archive/price-archive.ts'

/** Days for which statements of imports are kept; reverts are exact only within this period. */
const STATEMENT_DAYS = 90

/**
 * Deletes the months of the history that ended more than `keepDays` days ago, including archived ones; current prices stay. Prices that a batch
 * replaced in such a month can no longer be restored.
 * @param keepDays 0 keeps everything
 * @returns the deleted months, such as `2024-05`
 */
export async function forgetOldPrices({ db, archive }: { db: Db; archive: PriceArchive }, keepDays: number, now: Date): Promise<string[]> {
  if (keepDays === 0) return []
  const keepFrom = new Date(now.getTime() - keepDays * DAY_MS).toISOString().slice(0, 7)
  const months = new Set(await forgetMonths(monthsOfPrices(archive.files), db, keepFrom))
  for (const month of await priceMonths(db.kysely)) {
    const table = sql.table(priceMonthTable(month))
    if (month >= keepFrom || (await sql`select from ${table} limit 1`.execute(db.kysely)).rows.length === 0) continue
    await sql`truncate ${table}`.execute(db.kysely)
    months.add(month)
  }
  for (const table of ['hidden_points', 'merged_points'] as const) {
    await db.kysely
      .deleteFrom(table)
      .where('updated_at', '<', new Date(`${keepFrom}-01T00:00:00Z`))
      .execute()
  }
  return [...months].sort()
}

/** Deletes statements of imports older than their retention or that of the history (0: forever). */
export async function forgetOldStatements(db: Db, keepDays: number, now: Date): Promise<void> {
  const days = keepDays === 0 ? STATEMENT_DAYS : Math.min(keepDays, STATEMENT_DAYS)
  await db.kysely
    .deleteFrom('price_statements')
    .where('at', '<', new Date(now.getTime() - days * DAY_MS))
    .execute()
}
