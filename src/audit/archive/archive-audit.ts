// How months of the audit log move to files: a recorded month is read from its file only, so its entries are deleted later, in short transactions.
import { sql } from 'kysely'
import { DAY_MS } from '#core/duration.ts'
import { monthAfter, monthStart } from '#core/time.ts'
import { deleteAuditEntries, restoreAuditEntries, type StoredAuditEntry } from '#db/changes/audit-log.ts'
import { rowBatches } from '#db/row-batches.ts'
import type { Db, Queryable, Tx } from '#db/schema.ts'
import { type EntryOfPerson, openEntries, sealEntries } from '#db/personal/audit-entries.ts'
import { PersonKeys } from '#db/personal/person-keys.ts'
import {
  archivedMonths,
  archiveMonth,
  type Archiving,
  forgetEarlierFiles,
  forgetMonths,
  type MonthTable,
  restoreMonth,
} from '#files/month-archive.ts'
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
    async write(tx, { db, month, path, signal }) {
      // Keys are created through another connection: this transaction only reads.
      const facts = await writeAuditFile(path, sealed(new PersonKeys(db.kysely), entriesOf(tx, month, signal)))
      return facts.rows === 0 ? null : { ...facts, columns: { emptied: false, sealed: true } }
    },
    async empty(db, signal) {
      const full = await db.kysely.selectFrom('audit_archives').select('month').where('emptied', '=', false).where('file', 'is not', null).execute()
      for (const { month } of full) {
        await deleteAuditEntries(db, { from: monthStart(month), to: monthStart(monthAfter(month)) }, signal)
        await db.kysely.updateTable('audit_archives').set({ emptied: true }).where('month', '=', month).execute()
      }
    },
    async restore(tx, _, file, facts) {
      for await (const entries of (await files.openVerified(file, facts)).groups())
        await restoreAuditEntries(tx, await openEntries(new PersonKeys(tx), entries))
    },
  }
}

/** Archives again the months of releases that did not seal texts of people, and deletes their files, which an erasure could not reach. */
export async function sealOldMonths(table: MonthTable, archiving: Archiving): Promise<void> {
  const { db } = archiving
  const plain = db.kysely.selectFrom('audit_archives').select('month').where('sealed', '=', false)
  for (const { month } of await plain.orderBy('month').execute()) {
    if ((await archivedMonths('audit_archives', db.kysely, month))[0]?.file) await restoreMonth(table, db, month)
    await archiveMonth(table, archiving, month)
    await forgetEarlierFiles(table, db, month)
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

type Read = StoredAuditEntry & EntryOfPerson

async function* entriesOf(tx: Tx, month: string, signal?: AbortSignal): AsyncGenerator<Read[]> {
  const entries = sql`
    select id, at, actor, action, subject_type, subject_id, before::text as before, after::text as after, request_id,
      case when subject_type = 'order' and subject_id ~ '^[0-9]{1,18}$'
        then (select b.reference from order_buyers b where b.order_id = subject_id::int8) end as order_buyer
    from audit_log where at >= ${monthStart(month)} and at < ${monthStart(monthAfter(month))} order by id`
  yield* rowBatches<Read>(tx, entries, BATCH, signal)
}

/** Entries as they are stored in files: texts of people can be read only while their keys exist. */
async function* sealed(keys: PersonKeys, batches: AsyncIterable<Read[]>): AsyncGenerator<StoredAuditEntry> {
  for await (const batch of batches) for (const { order_buyer: _, ...entry } of await sealEntries(keys, batch)) yield entry
}
