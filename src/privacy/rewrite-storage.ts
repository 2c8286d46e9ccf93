// After erasures, writes the tables of the embedded database anew: PostgreSQL keeps old versions of rows in its files until their space is used again.
import { sql } from 'kysely'
import { OTHER_TABLES } from '#db/personal/other-tables.ts'
import { SPECIAL_TABLES, TABLES_OF_PEOPLE } from '#db/personal/tables-of-people.ts'
import type { Db } from '#db/schema.ts'

/** Other writes must not wait behind a table that cannot be locked. */
const LOCK_MS = 5_000
/** One process at a time. */
const LOCK = 7316

/**
 * Writes anew every table with personal columns, the planner's statistics, which contain samples of values, and the write-ahead log. Each table is locked
 * meanwhile. Does nothing unless an erasure has ended since the last time. @returns whether it wrote them
 */
export async function rewriteStorage({ kysely }: Db, now: Date): Promise<boolean> {
  const due = await kysely.selectFrom('erasures').select('id').where('state', '=', 'done').where('storage_at', 'is', null).execute()
  if (due.length === 0) return false
  return kysely.connection().execute(async (held) => {
    const { rows } = await sql<{ got: boolean }>`select pg_try_advisory_lock(${sql.lit(LOCK)}) as got`.execute(held)
    if (!rows[0]!.got) return false
    try {
      await sql`set lock_timeout = ${sql.lit(LOCK_MS)}`.execute(held)
      for (const table of tablesToRewrite()) await sql`vacuum (full, analyze) ${sql.table(table)}`.execute(held)
      await sql`vacuum full pg_catalog.pg_statistic`.execute(held)
      const ids = due.map(({ id }) => id)
      await held.updateTable('erasures').set({ storage_at: now }).where('id', '=', sql<number>`any(${ids}::int4[])`).execute()
      // Files of the log that end before a checkpoint are deleted by it.
      await sql`select pg_switch_wal()`.execute(held)
      await sql`checkpoint`.execute(held)
      return true
    } finally {
      await sql`reset lock_timeout`.execute(held)
      await sql`select pg_advisory_unlock(${sql.lit(LOCK)})`.execute(held)
    }
  })
}

/** Tables that had texts of people, or of the addresses that they used. */
export function tablesToRewrite(): string[] {
  const special = Object.keys(SPECIAL_TABLES)
  const people = Object.entries(TABLES_OF_PEOPLE).filter(([, { personal, changes, secret }]) => personal ?? changes ?? secret)
  return [...people.map(([table]) => table), ...special].filter((table) => !Object.hasOwn(OTHER_TABLES, table))
}
