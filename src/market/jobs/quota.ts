// Limits what the price jobs of an account store: further plans are refused, and the oldest finished jobs lose their rows.
import { sql } from 'kysely'
import { conflict } from '#core/errors.ts'
import type { Db, Tx } from '#db/schema.ts'

/** Waiting plans of one account. */
export const MAX_PLANNED = { rows: 50_000, bytes: 32 * 1024 * 1024 }
/** All jobs of one account that still have rows. */
const MAX_STORED = { jobs: 20_000, rows: 250_000, bytes: 128 * 1024 * 1024 }
const LOCK = 7316

export interface JobSize {
  rows: number
  bytes: number
}

/**
 * Makes room for a new job of the account, which waits for other new jobs of it.
 * @param size of the new job
 * @throws CONFLICT if the account's waiting plans would exceed `MAX_PLANNED`
 */
export async function makeRoom(tx: Tx, accountId: number, size: JobSize, now: Date): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.lit(LOCK)}, ${accountId}::int4)`.execute(tx)
  const stored = sql`from price_jobs where account_id = ${accountId} and stored_rows > 0`
  const waiting = sql`state = 'planned' and expires_at > ${now}`
  const { rows: sums } = await sql<JobSize>`
    select coalesce(sum(stored_rows), 0)::float8 as rows, coalesce(sum(stored_bytes), 0)::float8 as bytes ${stored} and ${waiting}`.execute(tx)
  const planned = { rows: sums[0]!.rows + size.rows, bytes: sums[0]!.bytes + size.bytes }
  if (planned.rows > MAX_PLANNED.rows || planned.bytes > MAX_PLANNED.bytes) {
    throw conflict('job_plans_full', { max: MAX_PLANNED.rows, size: MAX_PLANNED.bytes / 1024 ** 2 })
  }
  // The sums over a job and all newer ones tell whether it still has room. Read before the update: within it, the planner may compute them for every
  // job again, if it takes the table for a small one.
  const { rows: full } = await sql<{ id: number }>`
    select id from (
      select id, ${waiting} as waiting, count(*) over newer as jobs, sum(stored_rows) over newer as rows, sum(stored_bytes) over newer as bytes
      ${stored} window newer as (order by id desc)
    ) as own
    where not waiting
      and (jobs >= ${MAX_STORED.jobs} or rows + ${size.rows}::int4 > ${MAX_STORED.rows} or bytes + ${size.bytes}::int4 > ${MAX_STORED.bytes})`.execute(
    tx,
  )
  const ids = full.map(({ id }) => id)
  if (ids.length > 0) await dropRows(tx, sql<boolean>`id = any(${ids}::int4[])`)
}

/** Deletes the rows of plans that have expired. */
export async function dropExpiredPlans(db: Db, now: Date): Promise<void> {
  await db.kysely.transaction().execute((tx) => dropRows(tx, sql<boolean>`stored_rows > 0 and state = 'planned' and expires_at <= ${now}`))
}

/** Deletes the rows of jobs; the jobs and their counts stay. */
async function dropRows(tx: Tx, ofJobs: ReturnType<typeof sql<boolean>>): Promise<void> {
  const jobs = await tx.updateTable('price_jobs').set({ stored_rows: 0, stored_bytes: 0 }).where(ofJobs).returning('id').execute()
  if (jobs.length === 0) return
  await tx
    .deleteFrom('price_job_rows')
    .where('job_id', '=', sql<number>`any(${jobs.map(({ id }) => id)}::int4[])`)
    .execute()
}
