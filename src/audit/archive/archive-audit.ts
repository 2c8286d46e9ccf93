// Moves months of the audit log into Parquet files and back: after each step, every entry is read from exactly one of the two.
import { rm } from 'node:fs/promises'
import { sql } from 'kysely'
import { DAY_MS } from '#core/duration.ts'
import { monthAfter, monthStart } from '#core/time.ts'
import { type ArchivedMonth, withArchivingLock } from '#db/archiving.ts'
import { deleteAuditEntries, restoreAuditEntries, type StoredAuditEntry } from '#db/changes/audit-log.ts'
import type { Db, Queryable, Tx } from '#db/schema.ts'
import { writeAuditFile } from './audit-file.ts'
import type { AuditArchive } from './open-audit-archive.ts'

/** Steps after each of which the process may crash without losing or repeating an entry. */
export type AuditArchiveStep = 'written' | 'stored' | 'verified' | 'recorded' | 'emptied'

interface Archiving {
  db: Db
  archive: AuditArchive
  now: Date
  onStep?: (step: AuditArchiveStep, month: string) => void | Promise<void>
  signal?: AbortSignal
}

const BATCH = 5_000
/** Advisory lock of the archiving process. */
const ARCHIVING = 7315

/**
 * Archives the months that ended more than `keepMonths` months ago, oldest first; restored months stay in the database.
 * @param keepMonths months before the current one that stay in the database, at least 1
 * @returns the archived months; none if another process is archiving
 */
export async function archiveOldAudit(archiving: Archiving, keepMonths: number): Promise<ArchivedMonth[]> {
  const { db, now } = archiving
  const archived = await withArchivingLock(db, ARCHIVING, async () => {
    const done: ArchivedMonth[] = []
    await emptyArchived(archiving)
    for (const month of await monthsBefore(db, new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - keepMonths, 1)))) {
      const one = await archiveOne(archiving, month)
      if (one) done.push(one)
    }
    return done
  })
  return archived ?? []
}

/**
 * Archives a month, also one that was restored.
 * @returns null if it has no entries in the database
 * @throws Error if the month has not ended, the file cannot be read back as written, or another process is archiving
 */
export async function archiveAuditMonth(archiving: Archiving, month: string): Promise<ArchivedMonth | null> {
  const current = archiving.now.toISOString().slice(0, 7)
  if (month >= current) throw new Error(`${month} is too recent: only months before ${current} can be archived`)
  const done = await withArchivingLock(archiving.db, ARCHIVING, async () => {
    await emptyArchived(archiving)
    return { moved: await archiveOne(archiving, month) }
  })
  if (!done) throw new Error('Another process is archiving; try again later')
  return done.moved
}

async function archiveOne(archiving: Archiving, month: string): Promise<ArchivedMonth | null> {
  const staged = await archiving.archive.store.stage()
  try {
    return await moveMonth(archiving, month, staged)
  } finally {
    await rm(staged, { force: true })
  }
}

async function moveMonth({ db, archive, now, onStep, signal }: Archiving, month: string, staged: string): Promise<ArchivedMonth | null> {
  const reached = async (step: AuditArchiveStep) => {
    await onStep?.(step, month)
    signal?.throwIfAborted()
  }
  // Entries get the time of their transaction, so no entry can still arrive in a month that has ended.
  const written = await db.kysely
    .transaction()
    .setAccessMode('read only')
    .execute((tx) => writeAuditFile(staged, entriesOf(tx, month, signal)))
  if (written.rows === 0) return null
  await reached('written')
  const file = `audit-log-${month}-${written.checksum.slice(0, 16)}.parquet`
  await archive.add(staged, file, written, reached)
  // From here on, the month is read only from the file.
  await sql`
    insert into audit_archives as a (month, file, rows, checksum, emptied, archived_at)
    values (${month}, ${file}, ${written.rows}, ${written.checksum}, false, ${now})
    on conflict (month) do update set file = excluded.file, rows = excluded.rows, checksum = excluded.checksum,
      emptied = false, archived_at = excluded.archived_at,
      earlier_files = array_remove(array_append(a.earlier_files, a.file), excluded.file)`.execute(db.kysely)
  await reached('recorded')
  await emptyMonth(db, month, signal)
  await reached('emptied')
  return { month, file, rows: written.rows, archived_at: now.toISOString() }
}

/** Completes what a crashed process left unfinished. */
async function emptyArchived({ db, signal }: Archiving): Promise<void> {
  const open = await db.kysely.selectFrom('audit_archives').select('month').where('emptied', '=', false).where('file', 'is not', null).execute()
  for (const { month } of open) await emptyMonth(db, month, signal)
}

async function emptyMonth(db: Db, month: string, signal?: AbortSignal): Promise<void> {
  await deleteAuditEntries(db, { from: monthStart(month), to: monthStart(monthAfter(month)) }, signal)
  await db.kysely.updateTable('audit_archives').set({ emptied: true }).where('month', '=', month).execute()
}

/**
 * Restores an archived month to the database, where it stays until it is archived manually. Its file stays, because older backups need it.
 * @throws Error if the archive does not have it, or its file is damaged
 */
export async function restoreAuditMonth({ db, archive }: Pick<Archiving, 'db' | 'archive'>, month: string): Promise<ArchivedMonth> {
  const restored = await withArchivingLock(db, ARCHIVING, () =>
    db.kysely.transaction().execute(async (tx) => {
      const archived = await tx.selectFrom('audit_archives').selectAll().where('month', '=', month).forUpdate().executeTakeFirst()
      if (!archived?.file) throw new Error(`${month} is not in the archive`)
      const rows = Number(archived.rows)
      const file = await archive.openVerified(archived.file, { rows, checksum: archived.checksum })
      for await (const entries of file.groups()) await restoreAuditEntries(tx, entries)
      await sql`
        update audit_archives set file = null, emptied = false, earlier_files = array_append(earlier_files, file)
        where month = ${month}`.execute(tx)
      return { month, file: null, rows, archived_at: archived.archived_at.toISOString() }
    }),
  )
  if (!restored) throw new Error('Another process is archiving; try again later')
  return restored
}

/** All archived and restored months, oldest first. */
export async function archivedAuditMonths(on: Queryable): Promise<ArchivedMonth[]> {
  const months = await on.selectFrom('audit_archives').select(['month', 'file', 'rows', 'archived_at']).orderBy('month').execute()
  return months.map((row) => ({ ...row, rows: Number(row.rows), archived_at: row.archived_at.toISOString() }))
}

/**
 * Deletes entries older than `keepDays` days, and archived months that ended before.
 * @param keepDays 0 keeps everything
 */
export async function forgetOldAudit({ db, archive }: { db: Db; archive: AuditArchive }, keepDays: number, now: Date): Promise<void> {
  if (keepDays === 0) return
  const keepFrom = new Date(now.getTime() - keepDays * DAY_MS)
  await deleteAuditEntries(db, { from: '-infinity', to: keepFrom })
  const gone = await db.kysely
    .deleteFrom('audit_archives')
    .where('month', '<', keepFrom.toISOString().slice(0, 7))
    .returning(['file', 'earlier_files'])
    .execute()
  for (const { file, earlier_files: earlier } of gone)
    for (const name of file === null ? earlier : [file, ...earlier]) await archive.store.remove(name)
}

/** Months with entries in the database that end by `end`, oldest first, without restored ones. */
async function monthsBefore(db: Db, end: Date): Promise<string[]> {
  const { rows } = await sql<{ first: Date | null }>`select min(at) as first from audit_log`.execute(db.kysely)
  const first = rows[0]!.first
  const known = new Set((await archivedAuditMonths(db.kysely)).map(({ month }) => month))
  const months: string[] = []
  if (first === null) return months
  for (let month = first.toISOString().slice(0, 7); monthStart(month) < end; month = monthAfter(month)) if (!known.has(month)) months.push(month)
  return months
}

async function* entriesOf(tx: Tx, month: string, signal?: AbortSignal): AsyncGenerator<StoredAuditEntry> {
  await sql`declare archived no scroll cursor for
    select id, at, actor, action, subject_type, subject_id, before::text as before, after::text as after, request_id
    from audit_log where at >= ${monthStart(month)} and at < ${monthStart(monthAfter(month))} order by id`.execute(tx)
  for (;;) {
    signal?.throwIfAborted()
    const { rows } = await sql<StoredAuditEntry>`fetch forward ${sql.lit(BATCH)} from archived`.execute(tx)
    if (rows.length === 0) return
    yield* rows
  }
}
