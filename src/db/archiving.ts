// Shared by the archives of several tables: consistent reads, one archiving process at a time, and none on the day of an upgrade.
import { sql } from 'kysely'
import { ServiceError } from '#core/errors.ts'
import { reason } from '#core/problems.ts'
import type { Db } from './schema.ts'

/** A month of a table that is archived, or was restored from the archive. */
export interface ArchivedMonth {
  /** such as `2024-05` */
  month: string
  /** null if it was restored */
  file: string | null
  /** rows in the file */
  rows: number
  archived_at: string
}

/**
 * Reads data from the database and the archive, and again whenever a month has moved between them in the meantime: this ends, because there are only
 * so many months.
 * @param findFiles the files that the read needs, as JSON
 */
export async function readWithArchive<Files, T>(findFiles: () => Promise<Files>, read: (files: Files) => Promise<T>): Promise<T> {
  let files = await findFiles()
  for (;;) {
    const outcome = await read(files).then(
      (result) => ({ result }),
      (error: Error) => ({ error }),
    )
    const after = await findFiles()
    if (JSON.stringify(after) === JSON.stringify(files)) {
      if ('error' in outcome) throw outcome.error
      return outcome.result
    }
    files = after
  }
}

/** Reads files of an archive. @throws UNAVAILABLE with this rule if they cannot be read */
export async function fromArchive<T>(rule: 'price_archive' | 'audit_archive', reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof ServiceError) throw error
    const cause = new Error(`Failed to read the archive: ${(error as Error).message}`, { cause: error })
    throw new ServiceError('UNAVAILABLE', reason(rule), { headers: { 'retry-after': '30' }, cause })
  }
}

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
