// Limits what the price jobs of an account store: further plans are refused, and the oldest finished jobs lose their rows.
import { sql } from 'kysely'
import { conflict } from '#core/errors.ts'
import type { Db, Tx } from '#db/schema.ts'

/** Waiting plans of one account. */
export const MAX_PLANNED = { rows: 50_000, bytes: 32 * 1024 * 1024 }
/** All jobs of one account. */
const MAX_STORED = { rows: 250_000, bytes: 128 * 1024 * 1024 }
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
  const stored = await tx
    .selectFrom('price_jobs')
    .select([
      'id',
      sql<number>`stored_rows`.as('rows'),
      sql<number>`stored_bytes`.as('bytes'),
      sql<boolean>`state = 'planned' and expires_at > ${now}`.as('waiting'),
    ])
    .where('account_id', '=', accountId)
    .where('stored_rows', '>', 0)
    .orderBy('id')
    .execute()
  const planned = total([...stored.filter(({ waiting }) => waiting), size])
  if (exceeds(planned, MAX_PLANNED)) throw conflict('job_plans_full', { max: MAX_PLANNED.rows, size: MAX_PLANNED.bytes / 1024 ** 2 })
  const all = total([...stored, size])
  const oldest: number[] = []
  for (const { id, rows, bytes, waiting } of stored) {
    if (!exceeds(all, MAX_STORED)) break
    if (waiting) continue
    all.rows -= rows
    all.bytes -= bytes
    oldest.push(id)
  }
  if (oldest.length > 0) await dropRows(tx, sql<boolean>`id = any(${oldest}::int4[])`)
}

/** Deletes the rows of plans that have expired. */
export async function dropExpiredPlans(db: Db, now: Date): Promise<void> {
  await db.kysely.transaction().execute((tx) => dropRows(tx, sql<boolean>`stored_rows > 0 and state = 'planned' and expires_at <= ${now}`))
}

/** Deletes the rows of jobs; the jobs and their counts stay. */
async function dropRows(tx: Tx, ofJobs: ReturnType<typeof sql<boolean>>): Promise<void> {
  const jobs = await tx.updateTable('price_jobs').set({ stored_rows: 0, stored_bytes: 0 }).where(ofJobs).returning('id').execute()
  await tx
    .deleteFrom('price_job_rows')
    .where('job_id', '=', sql<number>`any(${jobs.map(({ id }) => id)}::int4[])`)
    .execute()
}

function total(sizes: readonly JobSize[]): JobSize {
  return { rows: sizes.reduce((sum, { rows }) => sum + rows, 0), bytes: sizes.reduce((sum, { bytes }) => sum + bytes, 0) }
}

function exceeds(size: JobSize, max: JobSize): boolean {
  return size.rows > max.rows || size.bytes > max.bytes
}
