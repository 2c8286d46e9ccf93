// The one way to write: a change, its audit rows, what other nodes must take over, and the answer for a repeated request
// commit together or not at all, and the writing node has applied it before it answers.
import { type RawBuilder, sql } from 'kysely'
import type { Viewer } from '#core/verb.ts'
import { type Idempotency, recall, remember } from './idempotency.ts'
import { notifyChanges } from './change-feed.ts'
import type { ChangeKind, Db, Tx } from './schema.ts'
import { inTransaction } from './transaction.ts'

/** What a writing verb needs of its context. */
export interface WriteCtx {
  db: Db
  viewer: Viewer
  now: () => Date
  requestId: string | null
  /** set where the caller sent an `Idempotency-Key` */
  idempotency: Idempotency | null
  /** resolves when this node has applied everything committed so far */
  caughtUp: () => Promise<void>
}

/** What a reading verb needs of its context. */
export type ReadCtx = Pick<WriteCtx, 'db' | 'viewer'>

export interface AuditEntry {
  /** verb and thing, such as `account.create` */
  action: string
  subject: string
  id: number | string
  before?: object | null
  after?: object | null
  /** who did it where that is not the caller, such as `system` */
  actor?: string
}

/** Collects, inside the transaction, what goes with the change. */
export interface Note {
  audit(entry: AuditEntry): void
  /** rows of this kind are to be read again by every node */
  changed(kind: ChangeKind, ids: number[]): void
  /** packed values that every node applies as they are (price batches) */
  changedPrices(payload: Buffer): Promise<void>
}

/**
 * Runs a write. `run` may run again after a deadlock, so its only effects are in `tx` and `note`. With an idempotency
 * key that was used before, `run` does not run and the first result comes back.
 */
export async function change<T>(ctx: WriteCtx, run: (tx: Tx, note: Note) => Promise<T>): Promise<T> {
  const result = await inTransaction(ctx.db, async (tx) => {
    const { idempotency } = ctx
    const earlier = idempotency && (await recall(tx, idempotency))
    if (earlier?.has(idempotency!.part)) return earlier.get(idempotency!.part) as T
    const collected = collector(tx, ctx)
    const outcome = await run(tx, collected.note)
    await collected.write()
    if (earlier) await remember(tx, idempotency!, earlier, outcome)
    return outcome
  })
  // The write stands whether or not this node has taken it over yet: the feed goes on trying and logs its trouble.
  await ctx.caughtUp().catch(() => {})
  return result
}

/** The same inside a transaction that is open already: imports write many changes in one. */
export function collector(tx: Tx, ctx: Pick<WriteCtx, 'viewer' | 'requestId'>): { note: Note; write: () => Promise<void> } {
  const audits: AuditEntry[] = []
  const changes = new Map<ChangeKind, Set<number>>()
  let notify = false
  const note: Note = {
    audit: (entry) => audits.push(entry),
    changed(kind, ids) {
      const known = changes.get(kind)
      if (known) for (const id of ids) known.add(id)
      else changes.set(kind, new Set(ids))
    },
    async changedPrices(payload) {
      await tx.insertInto('change_log').values({ kind: 'prices', payload }).execute()
      notify = true
    },
  }
  const write = async () => {
    if (audits.length > 0) await insertAudits(tx, audits, ctx)
    for (const [kind, ids] of changes) {
      await tx.insertInto('change_log').values({ kind, ids: [...ids] }).execute()
    }
    if (notify || changes.size > 0) await sql`${notifyChanges}`.execute(tx)
  }
  return { note, write }
}

async function insertAudits(tx: Tx, audits: AuditEntry[], by: Pick<WriteCtx, 'viewer' | 'requestId'>): Promise<void> {
  const json = (value: object | null | undefined) => (value ? JSON.stringify(value) : null)
  await sql`
    insert into audit_log (actor, action, subject_type, subject_id, before, after, request_id)
    select * from unnest(
      ${audits.map((entry) => entry.actor ?? actorOf(by.viewer))}::text[], ${audits.map((entry) => entry.action)}::text[],
      ${audits.map((entry) => entry.subject)}::text[], ${audits.map((entry) => String(entry.id))}::text[],
      ${audits.map((entry) => json(entry.before))}::jsonb[], ${audits.map((entry) => json(entry.after))}::jsonb[],
      ${audits.map(() => by.requestId)}::text[])`.execute(tx)
}

// Parts of a `with`, for a change that is one statement and so saves the round trips of a transaction.

/** @param selected actor, action, subject_type, subject_id, before, after, request_id */
export function auditedBy(selected: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`audited as (
      insert into audit_log (actor, action, subject_type, subject_id, before, after, request_id) ${selected})`
}

/** @param selected kind, ids, payload; the statement also has to select `notified` (change-feed.ts) */
export function loggedBy(selected: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`logged as (insert into change_log (kind, ids, payload) ${selected})`
}

export function actorOf(viewer: Viewer): string {
  return viewer.kind === 'operator' ? `operator:${viewer.name}` : `account:${viewer.accountId}`
}
