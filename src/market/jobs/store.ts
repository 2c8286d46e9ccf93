// SQL of price jobs, and jobs as returned to clients.
import { sql } from 'kysely'
import { DAY_MS } from '#core/duration.ts'
import { conflict } from '#core/errors.ts'
import { idForSql, missing } from '#core/fields.ts'
import { type Problem, type Reason, withMessage } from '#core/problems.ts'
import { localTime } from '#core/time.ts'
import type { Viewer } from '#core/verb.ts'
import { ROWS_AT_ONCE, runInSlices } from '#core/yield-to-event-loop.ts'
import type { Db, Queryable, Tx } from '#db/schema.ts'
import { amountOrNull } from '../listing-content.ts'
import { dropExpiredPlans, makeRoom } from './quota.ts'
import { jobStateAt, type RowOutcome } from './states.ts'
import type { PriceJobRow, PriceJobSummary } from './types.ts'

export const JOB_COLUMNS = [
  'id',
  'rule_id',
  'policy',
  'state',
  'rows_total',
  'rows_refused',
  'changed',
  'reversed',
  'kept',
  'failed',
  'created_at',
  'expires_at',
  'applied_at',
  'undone_at',
  'stored_rows',
  'ignored_columns',
] as const

const ROW_COLUMNS = [
  'position',
  'listing_id',
  'sku',
  'old_price',
  'new_price',
  'old_quantity',
  'new_quantity',
  'payout',
  'rank',
  'refused',
  'outcome',
  'why',
  'old_changed_by',
  'new_version',
  'old_priced_version',
  'old_stocked_version',
  'reason',
  'market_price',
  'warnings',
] as const

export type JobRow = Awaited<ReturnType<typeof findJob>>
export type StoredJobRow = ReturnType<typeof rowsOfJob> extends AsyncGenerator<(infer Row)[]> ? Row : never
/** Set when a row changes its listing, for an undo. */
type Applied = 'old_changed_by' | 'new_version' | 'old_priced_version' | 'old_stocked_version'
type AddedLater = 'reason' | 'market_price' | 'warnings'
export type NewJobRow = Omit<StoredJobRow, 'outcome' | 'why' | Applied | AddedLater> & Partial<Pick<StoredJobRow, AddedLater>>

/** The caller's account, which owns the jobs; operators have none. */
export function accountOf(viewer: Viewer): number {
  return viewer.kind === 'account' ? viewer.accountId : 0
}

/** The caller's own job. @throws NOT_FOUND, also for jobs of others */
export async function findJob(on: Queryable, viewer: Viewer, id: number) {
  const job = await on
    .selectFrom('price_jobs')
    .select(JOB_COLUMNS)
    .where('id', '=', idForSql(id))
    .where('account_id', '=', accountOf(viewer))
    .executeTakeFirst()
  if (!job) throw missing('price job', id)
  return job
}

/**
 * The job in the state that a step requires, locked until the transaction ends.
 * @throws NOT_FOUND, CONFLICT in any other state, or if its rows were deleted to make room
 */
export async function lockJob(tx: Tx, viewer: Viewer, id: number, needed: 'planned' | 'applied', now: Date): Promise<JobRow> {
  await sql`select from price_jobs where id = ${idForSql(id)} for update`.execute(tx)
  const job = await findJob(tx, viewer, id)
  const state = jobStateAt(job, now)
  if (state !== needed) throw conflict(`job_not_${needed}`, { state })
  if (job.stored_rows === 0 && job.rows_total > 0) throw conflict('job_rows_deleted')
  return job
}

/** By position, in batches: parsing one large result would block the event loop. */
export async function* rowsOfJob(on: Queryable, jobId: number) {
  const ofJob = on.selectFrom('price_job_rows').select(ROW_COLUMNS).where('job_id', '=', jobId).orderBy('position').limit(ROWS_AT_ONCE)
  for (let part = await ofJob.execute(); part.length > 0; ) {
    yield part
    if (part.length < ROWS_AT_ONCE) return
    part = await ofJob.where('position', '>', part.at(-1)!.position).execute()
  }
}

/** The first row that was rejected when the job was planned; there must be one. */
export async function firstRefused(on: Queryable, jobId: number) {
  const rows = on.selectFrom('price_job_rows').select(['position', 'refused']).where('job_id', '=', jobId).where('refused', 'is not', null)
  const { position, refused } = await rows.orderBy('position').limit(1).executeTakeFirstOrThrow()
  return { position, refused: refused! }
}

/** Locks the listings that a step changes, in the order of ids, so that batches never deadlock. */
export async function lockListingsOf(tx: Tx, jobId: number): Promise<void> {
  await sql`
    select count(*) from (
      select from listings
      where id in (
        select listing_id from price_job_rows where job_id = ${jobId} and refused is null and coalesce(outcome, 'changed') = 'changed'
      ) order by id for update
    ) as locked`.execute(tx)
}

interface NewJob {
  account_id: number
  /** the repricing rule that runs the job */
  rule_id?: number
  policy: 'all' | 'good_rows'
  rows_total: number
  rows_refused: number
  created_at: Date
  expires_at: Date
  ignored_columns?: string[]
}

/** @throws CONFLICT if the account has too many waiting plans */
export async function insertJob(tx: Tx, job: NewJob, rows: readonly NewJobRow[]): Promise<JobRow> {
  const parts: string[] = []
  await runInSlices(rows.length, (from, to) => void parts.push(JSON.stringify(rows.slice(from, to))), ROWS_AT_ONCE)
  const size = { rows: rows.length, bytes: parts.reduce((sum, part) => sum + part.length, 0) }
  await makeRoom(tx, job.account_id, size, job.created_at)
  const values = { ...job, stored_rows: size.rows, stored_bytes: size.bytes }
  const inserted = await tx.insertInto('price_jobs').values(values).returning(JOB_COLUMNS).executeTakeFirstOrThrow()
  for (const part of parts) {
    await sql`
      insert into price_job_rows (job_id, position, listing_id, sku, old_price, new_price, old_quantity, new_quantity, payout, rank, refused, reason,
        market_price, warnings)
      select ${inserted.id}, position, listing_id, sku, old_price, new_price, old_quantity, new_quantity, payout, rank, refused, reason,
        market_price, warnings
      from json_populate_recordset(null::price_job_rows, ${part})`.execute(tx)
  }
  return inserted
}

/** The outcome of a row. */
export interface RowResult extends Partial<Pick<StoredJobRow, Applied>> {
  outcome: RowOutcome
  why: Reason | null
}

/** Writes the outcomes of rows, by position. */
export async function saveOutcomes(tx: Tx, jobId: number, outcomes: ReadonlyMap<number, RowResult>): Promise<void> {
  const given = Array.from(outcomes, ([position, judged]) => ({ position, ...judged }))
  await sql`
    update price_job_rows r set outcome = g.outcome, why = g.why, new_version = coalesce(g.new_version, r.new_version),
      old_changed_by = coalesce(g.old_changed_by, r.old_changed_by), old_priced_version = coalesce(g.old_priced_version, r.old_priced_version),
      old_stocked_version = coalesce(g.old_stocked_version, r.old_stocked_version)
    from json_populate_recordset(null::price_job_rows, ${JSON.stringify(given)}) g
    where r.job_id = ${jobId} and r.position = g.position`.execute(tx)
}

/** Writes the state of a job and the counts of its rows by outcome. */
export async function finishJob(
  tx: Tx,
  jobId: number,
  state: { state: 'applied'; applied_at: Date } | { state: 'undone'; undone_at: Date },
): Promise<JobRow> {
  const { rows } = await sql<Record<RowOutcome, number>>`
    select count(*) filter (where outcome = 'changed')::int4 as changed, count(*) filter (where outcome = 'reversed')::int4 as reversed,
      count(*) filter (where outcome = 'kept')::int4 as kept, count(*) filter (where outcome = 'failed')::int4 as failed
    from price_job_rows where job_id = ${jobId}`.execute(tx)
  return tx
    .updateTable('price_jobs')
    .set({ ...rows[0]!, ...state })
    .where('id', '=', jobId)
    .returning(JOB_COLUMNS)
    .executeTakeFirstOrThrow()
}

/** Deletes the rows of expired plans, and jobs older than `keepDays` days. */
export async function forgetOldPriceJobs(db: Db, keepDays: number, now: Date): Promise<void> {
  await dropExpiredPlans(db, now)
  await db.kysely
    .deleteFrom('price_jobs')
    .where('created_at', '<', new Date(now.getTime() - keepDays * DAY_MS))
    .execute()
}

/** A row with its outcome, if it has one. */
type ShownRow = NewJobRow & { outcome?: RowOutcome | null; why?: Reason | null }

/** What formatting a job requires: the current time and the time zone of local times. */
export interface FormatCtx {
  now: () => Date
  market: { timeZone: string }
}

export function jobSummary({ now, market }: FormatCtx, job: JobRow): PriceJobSummary {
  const local = (at: Date) => localTime(at, market.timeZone)
  return {
    id: job.id,
    rule_id: job.rule_id,
    state: jobStateAt(job, now()),
    policy: job.policy,
    rows_total: job.rows_total,
    rows_refused: job.rows_refused,
    changed: job.changed,
    reversed: job.reversed,
    kept: job.kept,
    failed: job.failed,
    created_at: local(job.created_at),
    expires_at: local(job.expires_at),
    applied_at: job.applied_at && local(job.applied_at),
    undone_at: job.undone_at && local(job.undone_at),
    ignored_columns: job.ignored_columns,
  }
}

/** @param outcome replaces that of the row, which may be outdated */
export function jobRow(row: ShownRow, { outcome, why }: Pick<ShownRow, 'outcome' | 'why'> = row): PriceJobRow {
  return {
    row: row.position,
    listing_id: row.listing_id,
    sku: row.sku,
    old_price: amountOrNull(row.old_price),
    new_price: amountOrNull(row.new_price),
    old_quantity: row.old_quantity,
    new_quantity: row.new_quantity,
    payout: amountOrNull(row.payout),
    rank: row.rank,
    refused: row.refused?.map(shownProblem) ?? null,
    market_price: amountOrNull(row.market_price ?? null),
    warnings: (row.warnings ?? []).map(withMessage),
    reason: row.reason ? withMessage(row.reason) : null,
    outcome: outcome ?? null,
    why: why ? withMessage(why) : null,
  }
}

const shownProblem = (problem: Problem) => ({ field: problem.field, ...withMessage(problem) })
