// Writes the audit log: entries are added with the writes they describe, and removed only by archiving or retention.
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../schema.ts'

/** An entry to add. */
export interface NewAuditEntry {
  at: Date
  actor: string
  action: string
  subject: string
  id: number | string
  before?: object | null
  after?: object | null
  requestId: string | null
}

/** Entries per statement: each is a short transaction, so that it does not block other writes. */
const BATCH = 10_000

/** A CTE `audited` that adds the entries. */
export function addAuditEntries(entries: readonly NewAuditEntry[]): RawBuilder<unknown> {
  // As one JSON text: lists of columns would escape the states, which are JSON themselves.
  return sql`audited as (
    insert into audit_log (at, actor, action, subject_type, subject_id, before, after, request_id)
    select at, actor, action, subject, id, before, after, "requestId" from json_to_recordset(${JSON.stringify(entries)}) as entries
      (at timestamptz, actor text, action text, subject text, id text, before jsonb, after jsonb, "requestId" text))`
}

/** Deletes the entries of a period, oldest first, in short transactions. @param from inclusive @param to exclusive */
export async function deleteAuditEntries(db: Db, { from, to }: { from: Date | '-infinity'; to: Date }, signal?: AbortSignal): Promise<void> {
  for (let after: Date | '-infinity' = from; ; ) {
    signal?.throwIfAborted()
    // The next batch may start with entries of the same time, so it includes that time.
    const { rows } = await sql<{ last: Date | null }>`
      with batch as (select id, at from audit_log where at >= ${after} and at < ${to} order by at limit ${BATCH}),
        deleted as (delete from audit_log a using batch b where a.id = b.id)
      select max(at) as last from batch`.execute(db.kysely)
    const { last } = rows[0]!
    if (last === null) return
    after = last
  }
}

/** An entry as it is stored. */
export interface StoredAuditEntry {
  id: number
  at: Date
  actor: string
  action: string
  subject_type: string
  subject_id: string
  /** JSON */
  before: string | null
  /** JSON */
  after: string | null
  request_id: string | null
}

/** Restores entries; entries that still exist are not changed. */
export async function restoreAuditEntries(tx: Tx, entries: readonly StoredAuditEntry[]): Promise<void> {
  await sql`
    insert into audit_log (id, at, actor, action, subject_type, subject_id, before, after, request_id) overriding system value
    select * from unnest(
      ${entries.map(({ id }) => id)}::int8[], ${entries.map(({ at }) => at)}::timestamptz[],
      ${entries.map(({ actor }) => actor)}::text[], ${entries.map(({ action }) => action)}::text[],
      ${entries.map((entry) => entry.subject_type)}::text[], ${entries.map((entry) => entry.subject_id)}::text[],
      ${entries.map(({ before }) => before)}::jsonb[], ${entries.map(({ after }) => after)}::jsonb[],
      ${entries.map((entry) => entry.request_id)}::text[])
    on conflict (id) do nothing`.execute(tx)
}

/** Overwrites the states of entries, at the erasure of a person. */
export async function rewriteAuditEntries(tx: Tx, entries: readonly Pick<StoredAuditEntry, 'id' | 'before' | 'after'>[]): Promise<void> {
  await sql`
    update audit_log a set before = e.before, after = e.after
    from unnest(${entries.map(({ id }) => id)}::int8[], ${entries.map(({ before }) => before)}::jsonb[], ${entries.map(({ after }) => after)}::jsonb[])
      as e(id, before, after)
    where a.id = e.id`.execute(tx)
}
