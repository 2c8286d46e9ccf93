// Moves months of a table to Parquet files and back: after each step, every row is readable from the table or from a file.
import { rm } from 'node:fs/promises'
import { sql } from 'kysely'
import { databaseTime } from '#db/connection/database-time.ts'
import type { Db, Queryable, Tx } from '#db/schema.ts'
import type { FileFacts, OpenFile, ParquetFiles } from './parquet-files.ts'

/** Steps after each of which the process may crash without losing or repeating a row; once `recorded`, a month is read from its file. */
export type ArchiveStep = 'written' | 'stored' | 'verified' | 'recorded' | 'emptied'

export interface Archiving {
  db: Db
  now: Date
  onStep?: (step: ArchiveStep, month: string) => void | Promise<void>
  /** aborts; a month that is not recorded by then has not moved */
  signal?: AbortSignal
}

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

type ArchivesTable = 'price_archives' | 'audit_archives'

/** A table whose months can be moved to files. */
export interface MonthTable {
  /** name of its rows, such as `prices` */
  rows: string
  files: Pick<ParquetFiles<OpenFile>, 'store' | 'add'>
  /** start of the names of its files */
  prefix: string
  /** table of its archived months */
  archives: ArchivesTable
  /** number of the advisory lock of its archiving process */
  lock: number
  /** The first month that cannot be archived yet. */
  tooRecentFrom(now: Date): string
  /** Months that may have rows in the database, oldest first. */
  months(on: Queryable): Promise<string[]>
  /** Whether an archived month has received enough rows to be archived again; default: never. */
  hasGrown?(on: Queryable, month: string): Promise<boolean>
  /** Writes the rows of a month to a file, from one snapshot. @returns null if there is nothing to move */
  write(tx: Tx, job: WriteJob): Promise<WrittenMonth | null>
  /** Deletes the rows of recorded months in short transactions, also those that a crashed process left; default: `remove` does it. */
  empty?(db: Db, signal?: AbortSignal): Promise<void>
  /** Verifies the file of a month, and inserts its rows. */
  restore(tx: Tx, month: string, file: string, facts: FileFacts): Promise<void>
}

export interface WriteJob extends Pick<Archiving, 'db' | 'now' | 'signal'> {
  month: string
  /** path of the new file */
  path: string
  /** file whose rows the new one includes */
  oldFile: string | null
  /** whether an operator named the month; otherwise it is archived only if that is worth a file */
  byHand: boolean
}

export interface WrittenMonth extends FileFacts {
  /** further columns of the month in `archives` */
  columns?: Record<string, unknown>
  /**
   * Removes the rows in the transaction that records the file. It runs before all reads of this transaction, so that their snapshot (repeatable read)
   * begins once it has locked the rows. @returns false if the rows have changed since they were written
   */
  remove?(tx: Tx): Promise<boolean>
}

/**
 * Archives the months that ended more than `keepMonths` months ago, oldest first; restored months stay in the database.
 * @param keepMonths months before the current one that stay in the database
 * @returns the archived months; none if another process is archiving
 */
export async function archiveOldMonths(table: MonthTable, archiving: Archiving, keepMonths: number): Promise<ArchivedMonth[]> {
  const { db, now, signal } = archiving
  const keepFrom = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - keepMonths, 1)).toISOString().slice(0, 7)
  const moved = await withArchivingLock(db, table, async () => {
    await table.empty?.(db, signal)
    const archived = new Map((await archivedMonths(table.archives, db.kysely)).map((one) => [one.month, one]))
    const done: ArchivedMonth[] = []
    for (const month of (await table.months(db.kysely)).filter((month) => month < keepFrom)) {
      const before = archived.get(month)
      if (before && (before.file === null || !(await table.hasGrown?.(db.kysely, month)))) continue
      const one = await moveMonth(table, archiving, month, false)
      if (one) done.push(one)
    }
    return done
  })
  return moved ?? []
}

/**
 * Archives a month, also one that was restored. A month that is already archived gets a new file that includes the rows added since then.
 * @returns null if there was nothing to move
 * @throws Error if the month is too recent, if the file does not read back as written, if the month changed or was locked meanwhile, or if another
 * process is archiving; in each case nothing has moved
 */
export async function archiveMonth(table: MonthTable, archiving: Archiving, month: string): Promise<ArchivedMonth | null> {
  const { db, now, signal } = archiving
  const tooRecentFrom = table.tooRecentFrom(now)
  if (month >= tooRecentFrom) throw new Error(`${month} is too recent: only months before ${tooRecentFrom} can be archived`)
  const done = await withArchivingLock(db, table, async () => {
    await table.empty?.(db, signal)
    return { moved: (await table.months(db.kysely)).includes(month) ? await moveMonth(table, archiving, month, true) : null }
  })
  if (!done) throw new Error(OTHER_PROCESS)
  return done.moved
}

async function moveMonth(table: MonthTable, archiving: Archiving, month: string, byHand: boolean): Promise<ArchivedMonth | null> {
  const { files, prefix, archives, rows: rowsName } = table
  const { db, now, onStep, signal } = archiving
  const reached = async (step: ArchiveStep) => {
    await onStep?.(step, month)
    if (step !== 'recorded' && step !== 'emptied') signal?.throwIfAborted()
  }
  const transaction = () => db.kysely.transaction().setIsolationLevel('repeatable read')
  const fileOf = async (tx: Tx) => (await archivedMonths(archives, tx, month))[0]?.file ?? null
  const path = await files.store.stage()
  try {
    const { oldFile, written } = await transaction()
      .setAccessMode('read only')
      .execute(async (tx) => {
        const oldFile = await fileOf(tx)
        return { oldFile, written: await table.write(tx, { db, month, path, oldFile, byHand, now, ...(signal && { signal }) }) }
      })
    if (!written) return null
    await reached('written')
    const { rows, checksum } = written
    const file = `${prefix}-${month}-${checksum.slice(0, 16)}.parquet`
    await files.add(path, file, written, reached)
    await transaction().execute(async (tx) => {
      await lockArchives(archives, tx)
      const isUnchanged = (await written.remove?.(tx)) ?? true
      if (!isUnchanged || (await fileOf(tx)) !== oldFile) throw new Error(`The ${rowsName} of ${month} changed while they were archived; try again`)
      await record(archives, tx, { month, file, rows, checksum, archived_at: now, ...written.columns })
    })
    await reached('recorded')
    await table.empty?.(db, signal)
    if (table.empty) await reached('emptied')
    return { month, file, rows, archived_at: now.toISOString() }
  } finally {
    await rm(path, { force: true })
  }
}

/** Deletes the files that a month had before, which only older backups of the database need. */
export async function forgetEarlierFiles({ archives, files }: Pick<MonthTable, 'archives' | 'files'>, db: Db, month: string): Promise<void> {
  const row = await db.kysely.selectFrom(archives).select('earlier_files').where('month', '=', month).executeTakeFirst()
  for (const name of row?.earlier_files ?? []) await files.store.remove(name)
  await sql`update ${sql.table(archives)} set earlier_files = '{}' where month = ${month}`.execute(db.kysely)
}

async function record(archives: ArchivesTable, tx: Tx, row: Record<string, unknown>): Promise<void> {
  const columns = Object.keys(row).map((name) => sql.id(name))
  await sql`
    insert into ${sql.table(archives)} as a (${sql.join(columns)}) values (${sql.join(Object.values(row))})
    on conflict (month) do update set ${sql.join(columns.map((column) => sql`${column} = excluded.${column}`))},
      earlier_files = array_remove(array_append(a.earlier_files, a.file), excluded.file)`.execute(tx)
}

/**
 * Restores an archived month to the database, where it stays until it is archived manually. Its file is kept, because older database backups need it.
 * @throws Error if the archive does not have it, its file is damaged, or another process is emptying months
 */
export async function restoreMonth(table: MonthTable, db: Db, month: string): Promise<ArchivedMonth> {
  const { archives } = table
  const restore = () =>
    db.kysely.transaction().execute(async (tx) => {
      await lockArchives(archives, tx)
      const [archived] = await archivedMonths(archives, tx, month)
      if (!archived?.file) throw new Error(`${month} is not in the archive`)
      await table.restore(tx, month, archived.file, archived)
      await sql`update ${sql.table(archives)} set file = null, earlier_files = array_append(earlier_files, file) where month = ${month}`.execute(tx)
      return { ...archived, file: null }
    })
  // Emptying must not delete the restored rows.
  const restored = table.empty ? await withArchivingLock(db, table, restore) : await restore()
  if (!restored) throw new Error(OTHER_PROCESS)
  return restored
}

/** Deletes archived months before `keepFrom`, such as `2024-05`, with all their files. @returns the deleted months */
export async function forgetMonths({ archives, files }: Pick<MonthTable, 'archives' | 'files'>, db: Db, keepFrom: string): Promise<string[]> {
  const gone = await db.kysely.deleteFrom(archives).where('month', '<', keepFrom).returning(['month', 'file', 'earlier_files']).execute()
  for (const { file, earlier_files: earlier } of gone) for (const name of file === null ? earlier : [file, ...earlier]) await files.store.remove(name)
  return gone.map(({ month }) => month)
}

/** Months that are or were archived, oldest first; only `month` if given. */
export async function archivedMonths(archives: ArchivesTable, on: Queryable, month?: string): Promise<(ArchivedMonth & FileFacts)[]> {
  let months = on.selectFrom(archives).select(['month', 'file', 'rows', 'checksum', 'archived_at']).orderBy('month')
  if (month !== undefined) months = months.where('month', '=', month)
  return (await months.execute()).map((row) => ({ ...row, archived_at: row.archived_at.toISOString() }))
}

/** Nodes of the previous release cannot read an archive: nothing is archived automatically on the day that its migration ran. */
export async function mayArchive(archives: ArchivesTable, db: Db): Promise<boolean> {
  const { rows } = await sql<{ may: boolean }>`
    select exists (
      select from kysely_migration where name like ${`%${archives}`} and "timestamp"::timestamptz < ${databaseTime} - interval '1 day'
    ) as may`.execute(db.kysely)
  return rows[0]!.may
}

const OTHER_PROCESS = 'Another process is archiving; try again later'

/** Runs `work` unless another process is archiving the same table, which would write the same files. @returns null in that case */
function withArchivingLock<T>(db: Db, { lock }: MonthTable, work: () => Promise<T>): Promise<T | null> {
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

/** Nobody else moves or restores a month, or reverts prices of one, until the transaction ends. */
async function lockArchives(archives: ArchivesTable, tx: Tx): Promise<void> {
  await sql`lock table ${sql.table(archives)} in exclusive mode`.execute(tx)
}
