// Shared by the archives of several tables: only one process archives at a time, and never on the day of an upgrade.
import { sql } from 'kysely'
import type { Db } from './schema.ts'

/** Nodes of the previous release cannot read an archive: nothing is archived automatically on the day that its migration ran. */
export async function mayArchive(db: Db, migration: string): Promise<boolean> {
  const { rows } = await sql<{ may: boolean }>`
    select exists (
      select from kysely_migration where name like ${`%${migration}`} and "timestamp"::timestamptz < now() - interval '1 day'
    ) as may`.execute(db.kysely)
  return rows[0]!.may
}

/**
 * Runs `work` unless another process is archiving the same table, which would write the same files.
 * @param lock number of the advisory lock of the table's archive
 * @returns null if another process is archiving
 */
export function withArchivingLock<T>(db: Db, lock: number, work: () => Promise<T>): Promise<T | null> {
  return db.kysely.connection().execute(async (held) => {
    const { rows } = await sql<{ got: boolean }>`select pg_try_advisory_lock(${sql.lit(lock)}) as got`.execute(held)
    if (!rows[0]!.got) return null
    try {
      return await work()
    } finally {
      await sql`select pg_advisory_unlock(${sql.lit(lock)})`.execute(held)
    }
  })
}
