// The only way to write: a change, its audit rows, its change-log rows and the result for a repeated request commit atomically,
// alone or in a batch, and the writing node has applied the change before it responds.
import { sql } from 'kysely'
import { ServiceError } from '#core/errors.ts'
import { traceparent } from '#core/tracing/spans.ts'
import { ROWS_AT_ONCE } from '#core/yield-to-event-loop.ts'
import { mayWrite, type Viewer } from '#core/verb.ts'
import { announce } from '../connection/announce.ts'
import { addAuditEntries, type NewAuditEntry } from './audit-log.ts'
import { CHANGES_CHANNEL } from './change-feed.ts'
import { groupCommit } from './group-commit.ts'
import { type Idempotency, findResults, storeResults, type Results } from './idempotency.ts'
import type { ChangeKind, Db, Tx } from '../schema.ts'
import { inTransaction } from '../connection/transaction.ts'

/** The part of a context that a writing verb uses. */
export interface WriteCtx {
  db: Db
  viewer: Viewer
  now: () => Date
  requestId: string | null
  /** set if the caller sent an `Idempotency-Key` */
  idempotency: Idempotency | null
  /** resolves when this node has applied everything committed so far */
  caughtUp: () => Promise<void>
  /** set in a dry run: the transaction that writes run in and that is rolled back */
  rehearsal?: Tx
}

/** The part of a context that a reading verb uses. */
export type ReadCtx = Pick<WriteCtx, 'db' | 'viewer'>

export interface AuditEntry {
  /** verb and resource, such as `account.create` */
  action: string
  subject: string
  id: number | string
  before?: object | null
  after?: object | null
  /** the author, if it is not the caller, such as `system` */
  actor?: string
}

/** Collects, inside the transaction, the changes and audit entries that commit with a write. */
export interface Note {
  /** the time of the write, by its node's clock */
  at: Date
  audit(entry: AuditEntry): void
  /** Ids of rows that every node reads again, or packed values that every node applies without reading. */
  changed(kind: ChangeKind, rows: number[] | Buffer): void
  /** Packed values are logged in parts: those of a whole import would exhaust memory. */
  changedPrices(payload: Buffer): Promise<void>
  /** The same for the evidence of prices (`packEvidence`): call it after writing the rows, in every transaction that changes an evidence column. */
  changedEvidence(payload: Buffer): Promise<void>
  /** Writes the audit rows noted so far and packs the rest: the notes of a large write would exhaust memory. */
  flush(): Promise<void>
}

/** One write of a batch; `note` acts on behalf of its own caller. */
export interface Write<Ctx, Input> {
  ctx: Ctx
  input: Input
  note: Note
}
type Submitted<Ctx, Input> = Omit<Write<Ctx, Input>, 'note'>

/** Writes a batch in one transaction and returns an outcome for each write, in order: a result, or the error of a rejected one. */
type Run<Ctx, Input, Result> = (tx: Tx, writes: Write<Ctx, Input>[]) => Promise<(Result | ServiceError)[]>

/**
 * Runs a write in a transaction of its own. `run` may run again after a deadlock, so its only effects must be in `tx` and
 * `note`. If the idempotency key was used before, `run` does not run and the first result is returned.
 */
export async function change<Result>(ctx: WriteCtx, run: (tx: Tx, note: Note) => Promise<Result>): Promise<Result> {
  mayWrite(ctx.viewer)
  const [outcome] = await commit([{ ctx, input: null }], async (tx, [write]) => [await run(tx, write!.note)])
  return resultOf(outcome as Result | ServiceError)
}

/** Carries a result out of a transaction that is rolled back. */
class RolledBack extends Error {
  readonly result: unknown

  constructor(result: unknown) {
    super('rolled back')
    this.result = result
  }
}

/**
 * Runs writes as a dry run and rolls everything back: each `change` and `groupedChange` that gets the dry run's context
 * runs in `tx` immediately, without idempotency key, audit rows and change log. Errors are those of the real write.
 * @returns the result of `run`; it may read the effects of the writes in `tx`
 */
export async function executeDryRun<Ctx extends WriteCtx, Result>(ctx: Ctx, run: (tx: Tx, ctx: Ctx) => Promise<Result>): Promise<Result> {
  mayWrite(ctx.viewer)
  try {
    return await inTransaction(ctx.db, async (tx) => {
      // Reads also use the transaction: they see its writes, and a dry run never waits for a second connection of the pool.
      throw new RolledBack(await run(tx, { ...ctx, db: { ...ctx.db, kysely: tx }, rehearsal: tx, idempotency: null }))
    })
  } catch (thrown) {
    if (thrown instanceof RolledBack) return thrown.result as Result
    throw thrown
  }
}

/**
 * The result of an earlier request with the same idempotency key; null for none. For writes that do something else
 * before their `change`.
 * @throws IDEMPOTENCY_CONFLICT as `change`
 */
export async function earlierResult<Result>({ db, idempotency, now }: WriteCtx): Promise<Result | null> {
  if (!idempotency) return null
  const [found] = await inTransaction(db, (tx) => findResults(tx, [idempotency], now()))
  if (found instanceof ServiceError) throw found
  return (found?.get(idempotency.part) as Result | undefined) ?? null
}

/**
 * The same as a group commit: `run` gets all writes that are waiting, and the guarantees of `change` hold for each.
 * An error of `run` rolls the batch back, and each write is tried alone.
 * @param keyOf identifies the rows that a write locks: writes with the same key are never in two concurrent batches
 */
export function groupedChange<Ctx extends WriteCtx, Input, Result>(
  keyOf: (input: Input) => number,
  run: Run<Ctx, Input, Result>,
): (ctx: Ctx, input: Input) => Promise<Result> {
  const submit = groupCommit({
    keyOf: ({ input }: Submitted<Ctx, Input>) => keyOf(input),
    commit: (writes) => commit(writes, run),
  })
  return async (ctx, input) => {
    mayWrite(ctx.viewer)
    // A dry run has its own transaction, which no batch may share.
    if (ctx.rehearsal) return resultOf((await commit([{ ctx, input }], run))[0]!)
    return resultOf(await submit(ctx.db, { ctx, input }))
  }
}

async function commit<Ctx extends WriteCtx, Input, Result>(
  writes: Submitted<Ctx, Input>[],
  run: Run<Ctx, Input, Result>,
): Promise<(Result | ServiceError)[]> {
  const { db, caughtUp, now, rehearsal } = writes[0]!.ctx
  if (rehearsal)
    return run(
      rehearsal,
      writes.map((write) => ({ ...write, note: { ...UNNOTED, at: now() } })),
    )
  const { outcomes, follow } = await inTransaction(db, async (tx) => {
    const earlier = await findResults(
      tx,
      writes.map(({ ctx }) => ctx.idempotency),
      now(),
    )
    const { noteOf, write } = noteCollector(tx, now)
    const outcomes: (Result | ServiceError)[] = []
    const fresh: number[] = []
    earlier.forEach((found, i) => {
      const part = writes[i]!.ctx.idempotency?.part ?? ''
      if (found instanceof ServiceError) outcomes[i] = found
      else if (found?.has(part)) outcomes[i] = found.get(part) as Result
      else fresh.push(i)
    })
    const results =
      fresh.length > 0
        ? await run(
            tx,
            fresh.map((i) => ({ ...writes[i]!, note: noteOf(writes[i]!.ctx) })),
          )
        : []
    const logged = await write()
    await storeResults(
      tx,
      fresh.flatMap((i, n) => {
        outcomes[i] = results[n]!
        const request = writes[i]!.ctx.idempotency
        return request && !(results[n] instanceof ServiceError) ? [{ request, earlier: earlier[i] as Results, result: results[n] }] : []
      }),
      now(),
    )
    return { outcomes, follow: logged || fresh.length < writes.length }
  })
  // The write is durable whether or not this node has applied it: the feed retries and logs its errors.
  if (follow) await caughtUp().catch(() => {})
  return outcomes
}

function resultOf<Result>(outcome: Result | ServiceError): Result {
  if (outcome instanceof ServiceError) throw outcome
  return outcome
}

/** Packed values up to this size are logged with the rest of the notes, to save a statement. */
const LOG_BYTES = 64 * 1024

/** For dry runs: nothing commits, so nodes have nothing to apply. */
const UNNOTED: Omit<Note, 'at'> = {
  audit: () => {},
  changed: () => {},
  changedPrices: async () => {},
  changedEvidence: async () => {},
  flush: async () => {},
}

/** The author of a write, for its audit entries. */
type By = Pick<WriteCtx, 'viewer' | 'requestId'>

/** Notes in an open transaction; `write` stores them and returns whether nodes have something to apply. */
export function noteCollector(tx: Tx, now: () => Date): { noteOf: (by: By) => Note; write: () => Promise<boolean> } {
  const audits: NewAuditEntry[] = []
  const changes = new Map<ChangeKind, { ids: Set<number>; packed: Buffer[] }>()
  const waiting: { kind: ChangeKind; payload: Buffer; traceparent: string | null; at: Date }[] = []
  let waitingBytes = 0
  let logged = false
  const log = async (kind: ChangeKind, payload: Buffer) => {
    logged = true
    waiting.push({ kind, payload, traceparent: traceparent(), at: now() })
    waitingBytes += payload.length
    if (waitingBytes < LOG_BYTES) return
    waitingBytes = 0
    await tx.insertInto('change_log').values(waiting.splice(0)).execute()
  }
  const noteOf = ({ viewer, requestId }: By, at = now()): Note => ({
    at,
    audit: (entry) => audits.push({ actor: actorOf(viewer), requestId, at, ...entry }),
    changed(kind, rows) {
      const ofKind = changes.get(kind) ?? { ids: new Set(), packed: [] }
      changes.set(kind, ofKind)
      if (Buffer.isBuffer(rows)) ofKind.packed.push(rows)
      else for (const id of rows) ofKind.ids.add(id)
    },
    changedPrices: (payload) => log('prices', payload),
    changedEvidence: (payload) => log('evidence', payload),
    async flush() {
      await writeAudits(1)
      for (const noted of changes.values()) noted.packed = noted.packed.length > 0 ? [Buffer.concat(noted.packed)] : []
    },
  })
  /** @param minimum smaller numbers of entries are left for later */
  const writeAudits = async (minimum: number) => {
    while (audits.length >= minimum) await sql`with ${addAuditEntries(audits.splice(0, ROWS_AT_ONCE))} select 1`.execute(tx)
  }
  const write = async () => {
    await writeAudits(ROWS_AT_ONCE + 1)
    const trace = traceparent()
    // The time of its end: a long import began minutes before.
    const at = now()
    const values = (kind: ChangeKind, payload: Buffer) => sql`(${kind}, null::int4[], ${payload}::bytea, ${trace}::text, ${at}::timestamptz)`
    const rows = waiting.splice(0).map(({ kind, payload }) => values(kind, payload))
    for (const [kind, { ids, packed }] of changes) {
      if (ids.size > 0) rows.push(sql`(${kind}, ${[...ids]}::int4[], null::bytea, ${trace}::text, ${at}::timestamptz)`)
      if (packed.length > 0) rows.push(values(kind, Buffer.concat(packed)))
    }
    logged ||= rows.length > 0
    // One statement, so that a small write takes few round trips.
    const parts = [
      ...(audits.length > 0 ? [addAuditEntries(audits)] : []),
      ...(rows.length > 0 ? [sql`logged as (insert into change_log (kind, ids, payload, traceparent, at) values ${sql.join(rows)})`] : []),
    ]
    if (parts.length > 0) await sql`with ${sql.join(parts)} select 1`.execute(tx)
    if (logged) announce(tx, CHANGES_CHANNEL)
    return logged
  }
  return { noteOf, write }
}

/** The author in the format of the audit log: `operator:<name>` or `account:<id>`. */
export function actorOf(viewer: Viewer): string {
  return viewer.kind === 'operator' ? `operator:${viewer.name}` : `account:${viewer.accountId}`
}
