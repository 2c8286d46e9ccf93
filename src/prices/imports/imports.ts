// Imports and price posts as batches: author, result, and refused rows with reasons.
import { sql } from 'kysely'
import type { Market } from '#core/markets.ts'
import { type Reason, reason, textOf } from '#core/problems.ts'
import type { Db, Queryable, Tx } from '#db/schema.ts'
import { type Refusals, toStorable } from './refusals.ts'
import { storeRefusedRows } from './refused-rows-csv.ts'

export interface ImportCounts {
  rowsRead: number
  created: number
  updated: number
  accepted: number
  unchanged: number
  held: number
  rejected: number
}

export interface ImportOpening {
  format: string
  market: Market | null
  fileName: string | null
  author: string
  dryRun: boolean
  /** whether its column mapping says that ungraded prices have a known condition; default: true */
  conditionKnown?: boolean
  /** a queued upload */
  status?: 'queued' | 'running'
}

/** Inserts a batch with the status `running` unless stated otherwise. @returns its id */
export async function openImport(on: Queryable, opening: ImportOpening, now: Date): Promise<number> {
  const row = await on
    .insertInto('imports')
    .values({
      format: opening.format,
      market: opening.market,
      file_name: opening.fileName,
      author: opening.author,
      dry_run: opening.dryRun,
      condition_known: opening.conditionKnown ?? true,
      status: opening.status ?? 'running',
      started_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}

/** Marks a queued import as running. */
export async function startImport(on: Queryable, id: number, now: Date): Promise<void> {
  await on.updateTable('imports').set({ status: 'running', started_at: now }).where('id', '=', id).execute()
}

/** Class of the advisory lock that the workers of a running import share. An import marked as running whose lock is free was interrupted. */
export const IMPORT_LOCK = 7308

/** An import takes its lock shortly after its row is committed, or some seconds later if it has to wait for a connection. */
const LOCKED_WITHIN_SECONDS = 30

/** Marks interrupted imports as failed; nothing of them was committed. */
export async function failBrokenImports(db: Db, now: Date): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    with under_way as materialized (
      select id from imports where status in ('queued', 'running') and started_at < ${now}::timestamptz - make_interval(secs => ${sql.lit(LOCKED_WITHIN_SECONDS)})
    )
    select id from under_way where pg_try_advisory_xact_lock(${sql.lit(IMPORT_LOCK)}, id)`.execute(db.kysely)
  const ids = rows.map((row) => row.id)
  await failImports(db, ids, reason('import_interrupted'), now)
}

/** Marks unfinished imports as failed. */
export async function failImports(db: Db, ids: number[], why: Reason, now: Date): Promise<void> {
  if (ids.length === 0) return
  await db.kysely
    .updateTable('imports')
    .set({ ...columns(noCounts()), status: 'failed', ...failure(why), finished_at: now })
    .where('id', 'in', ids)
    .where('status', 'in', ['queued', 'running'])
    .execute()
}

/** Reports the progress of an import outside its transaction, if a connection is free: other requests may wait for locks of the import. */
export async function reportProgress(db: Db, id: number, counts: ImportCounts, percent: number): Promise<void> {
  const { idleCount, totalCount, options } = db.pool
  if (idleCount === 0 && totalCount >= options.max) return
  await db.kysely
    .updateTable('imports')
    .set({ ...columns(counts), percent })
    .where('id', '=', id)
    .execute()
}

export interface ImportOutcome {
  status: 'done' | 'failed'
  counts: ImportCounts
  refusals: Refusals
  /** why it failed */
  why?: Reason
}

/** Records the outcome of a batch, with its counts and refused rows. */
export async function closeImport(tx: Tx, id: number, outcome: ImportOutcome, now: Date): Promise<void> {
  await tx
    .updateTable('imports')
    .set({
      ...columns(outcome.counts),
      status: outcome.status,
      percent: outcome.status === 'done' ? 100 : sql<number>`percent`,
      errors: JSON.stringify(outcome.refusals.rows),
      reasons: JSON.stringify(outcome.refusals.reasons),
      ...(outcome.why ? failure(outcome.why) : { message: null, rule: null, params: null }),
      finished_at: now,
    })
    .where('id', '=', id)
    .execute()
  await storeRefusedRows(tx, id, outcome.refusals.csv.finish())
}

/** The columns for why an import failed. */
function failure(why: Reason) {
  const { rule, params } = toStorable(why)
  return { message: textOf({ rule, params }), rule, params: JSON.stringify(params) }
}

function columns(counts: ImportCounts) {
  const { rowsRead, ...others } = counts
  return { rows_read: rowsRead, ...others }
}

/** The counts of a batch before its first row. */
export function noCounts(): ImportCounts {
  return { rowsRead: 0, created: 0, updated: 0, accepted: 0, unchanged: 0, held: 0, rejected: 0 }
}
