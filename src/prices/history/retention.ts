// Retention of the price history, by whole months because the partition of a month can be emptied at once, and of statements of imports.
import { sql } from 'kysely'
import { DAY_MS } from '#core/duration.ts'
import type { Db } from '#db/schema.ts'
import { forgetArchives } from '../archive/archive-months.ts'
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
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'price_points'::regclass order by 1`.execute(db.kysely)
  const months = await forgetArchives(db, archive, keepFrom)
  for (const { name } of rows) {
    const month = name.replace('price_points_', '').replace('_', '-')
    if (month >= keepFrom || !(await hasRows(db, name))) continue
    await sql`truncate ${sql.table(name)}`.execute(db.kysely)
    if (!months.includes(month)) months.push(month)
  }
  for (const table of ['hidden_points', 'merged_points'] as const) {
    await db.kysely
      .deleteFrom(table)
      .where('updated_at', '<', new Date(`${keepFrom}-01T00:00:00Z`))
      .execute()
  }
  return months.sort()
}

/** Deletes statements of imports older than their retention or that of the history (0: forever). */
export async function forgetOldStatements(db: Db, keepDays: number, now: Date): Promise<void> {
  const days = keepDays === 0 ? STATEMENT_DAYS : Math.min(keepDays, STATEMENT_DAYS)
  await db.kysely
    .deleteFrom('price_statements')
    .where('at', '<', new Date(now.getTime() - days * DAY_MS))
    .execute()
}

async function hasRows(db: Db, table: string): Promise<boolean> {
  const { rows } = await sql<{ some: boolean }>`select exists (select from ${sql.table(table)}) as some`.execute(db.kysely)
  return rows[0]!.some
}
