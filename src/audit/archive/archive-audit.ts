// How months of the audit log move to files: a recorded month is read from its file only, so its entries are deleted later, in short transactions.
import { sql } from 'kysely'
import { DAY_MS } from '#core/duration.ts'
import { monthAfter, monthStart } from '#core/time.ts'
import { deleteAuditEntries, restoreAuditEntries, type StoredAuditEntry } from '#db/changes/audit-log.ts'
import { rowBatches } from '#db/row-batches.ts'
import type { Db, Queryable, Tx } from '#db/schema.ts'
import { forgetMonths, type MonthTable } from '#files/month-archive.ts'
import { type AuditArchive, writeAuditFile } from './audit-file.ts'

const BATCH = 5_000

/** The months of `audit_log`, in these files. */
export function monthsOfAudit(files: AuditArchive): MonthTable {
  return {
    rows: 'entries',
    files,
    prefix: 'audit-log',
    archives: 'audit_archives',
    lock: 7315,
    // Entries get the time of their transaction, so no entry can still arrive in a month that has ended.
    tooRecentFrom: (now) => now.toISOString().slice(0, 7),
    months: monthsWithEntries,
    async write(tx, { month, path, signal }) {
      const facts = await writeAuditFile(path, entriesOf(tx, month, signal))
      return facts.rows === 0 ? null : { ...facts, columns: { emptied: false } }
    },
    async empty(db, signal) {
      const full = await db.kysely.selectFrom('audit_archives').select('month').where('emptied', '=', false).where('file', 'is not', null).execute()
      for (const { month } of full) {
        await deleteAuditEntries(db, { from: monthStart(month), to: monthStart(monthAfter(month)) }, signal)
        await db.kysely.updateTable('audit_archives').set({ emptied: true }).where('month', '=', month).execute()
      }
    },
    async restore(tx, _, file, facts) {
      for await (const entries of (await files.openVerified(file, facts)).groups()) await restoreAuditEntries(tx, entries)
    },
  }
}

/**
 * Deletes entries older than `keepDays` days, and archived months that ended before.
 * @param keepDays 0 keeps everything
 */
export async function forgetOldAudit({ db, files }: { db: Db; files: AuditArchive }, keepDays: number, now: Date): Promise<void> {
  if (keepDays === 0) return
  const keepFrom = new Date(now.getTime() - keepDays * DAY_MS)
  await deleteAuditEntries(db, { from: '-infinity', to: keepFrom })
  await forgetMonths(monthsOfAudit(files), db, keepFrom.toISOString().slice(0, 7))
}

async function monthsWithEntries(on: Queryable): Promise<string[]> {
  const { rows } = await sql<{ first: Date | null; last: Date | null }>`select min(at) as first, max(at) as last from audit_log`.execute(on)
  const { first, last } = rows[0]!
  const months: string[] = []
  if (first === null || last === null) return months
  for (let month = first.toISOString().slice(0, 7); monthStart(month) <= last; month = monthAfter(month)) months.push(month)
  return months
}

async function* entriesOf(tx: Tx, month: string, signal?: AbortSignal): AsyncGenerator<StoredAuditEntry> {
  const entries = sql`
    select id, at, actor, action, subject_type, subject_id, before::text as before, after::text as after, request_id
    from audit_log where at >= ${monthStart(month)} and at < ${monthStart(monthAfter(month))} order by id`
  for await (const rows of rowBatches<StoredAuditEntry>(tx, entries, BATCH, signal)) yield* rows
}
