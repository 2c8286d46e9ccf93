// SQL of the rows of sandboxes. Nodes agree through them: what changes the state of a sandbox is one conditional statement.
import { sql } from 'kysely'
import { DAY_MS, HOUR_MS } from '#core/duration.ts'
import type { Plan } from '#core/plans.ts'
import { databaseTime } from '#db/connection/database-time.ts'
import type { Db, Queryable, Tx } from '#db/schema.ts'
import type { Fired, Sandbox, SandboxProblem } from './sandbox-types.ts'

export const UNUSED_DAYS = 7
/** A node that works in a sandbox renews its lease; after this time, it counts as dead. */
const LEASE = sql`interval '20 seconds'`
export const RENEW_MS = 5_000
/** A use is stored at most once in this time. */
const USES_EVERY_MS = HOUR_MS

export interface SandboxRow {
  id: number
  account_id: number
  starts_at: Date
  seed: number
  now: Date
  status: 'creating' | 'ready' | 'advancing' | 'failed'
  generation: number
  problem: SandboxProblem | null
  fired: Fired[]
  fired_total: number
  last4: string
  created_at: Date
  last_used_at: Date
}

/** A sandbox with its account, as a request with its key finds it. */
export interface FoundSandbox extends SandboxRow {
  plan: Plan
  suspended: boolean
  is_due: boolean
}

/** A node that died has left its lease: the sandbox is then as it was after the last completed step. */
const STATUS = sql<SandboxRow['status']>`case when s.status = 'advancing' and s.lease_until < ${databaseTime} then 'failed' else s.status end`
const PROBLEM = sql<SandboxProblem | null>`case when s.status = 'advancing' and s.lease_until < ${databaseTime} then ${sql.lit('interrupted' satisfies SandboxProblem)} else s.problem end`
const COLUMNS = sql`s.id, s.account_id, s.starts_at, s.seed::float8 as seed, s.now, ${STATUS} as status, s.generation, ${PROBLEM} as problem, s.fired,
  s.fired_total, s.last4, s.created_at, s.last_used_at`

/** @param now by the clock of the service, as everywhere here but in leases */
export async function findByHash({ kysely }: Db, hash: Buffer, now: Date): Promise<FoundSandbox | null> {
  const before = new Date(now.getTime() - USES_EVERY_MS)
  const { rows } = await sql<FoundSandbox>`
    select ${COLUMNS}, a.plan, a.suspended, s.last_used_at < ${before} as is_due
    from sandboxes s join accounts a on a.id = s.account_id where s.hash = ${hash} and s.status <> 'creating'`.execute(kysely)
  return rows[0] ?? null
}

/** Stores a use. */
export async function noteUse({ kysely }: Db, id: number, now: Date): Promise<void> {
  await sql`update sandboxes set last_used_at = greatest(last_used_at, ${now}) where id = ${id}`.execute(kysely)
}

/** @param accountId of the owner; null: of any account */
export async function findSandbox(on: Queryable, id: number, accountId: number | null): Promise<SandboxRow | null> {
  const { rows } = await sql<SandboxRow>`
    select ${COLUMNS} from sandboxes s where s.id = ${id} and (${accountId}::int is null or s.account_id = ${accountId})`.execute(on)
  return rows[0] ?? null
}

/** The sandboxes of an account, oldest first. */
export async function sandboxesOfAccount(on: Queryable, accountId: number): Promise<SandboxRow[]> {
  const { rows } = await sql<SandboxRow>`select ${COLUMNS} from sandboxes s where s.account_id = ${accountId} order by s.id`.execute(on)
  return rows
}

/** A page of all sandboxes, last used first. */
export async function rowsOfSandboxes(on: Queryable, limit: number, offset: number): Promise<(SandboxRow & { account_name: string })[]> {
  const { rows } = await sql<SandboxRow & { account_name: string }>`
    select ${COLUMNS}, a.name as account_name from sandboxes s join accounts a on a.id = s.account_id
    order by s.last_used_at desc, s.id desc limit ${limit} offset ${offset}`.execute(on)
  return rows
}

export interface NewRow {
  accountId: number
  hash: Buffer
  last4: string
  startsAt: Date
  seed: number
  createdAt: Date
}

/** Adds a row unless the account or the service has its largest number; the account is locked, so that concurrent calls count each other. */
export async function insertSandbox(tx: Tx, row: NewRow, max: { ofAccount: number; ofService: number }): Promise<SandboxRow | 'account' | 'service'> {
  await tx.selectFrom('accounts').select('id').where('id', '=', row.accountId).forNoKeyUpdate().execute()
  await sql`select pg_advisory_xact_lock(hashtext('mintmark sandboxes'))`.execute(tx)
  const { rows: counts } = await sql<{ own: number; total: number }>`
    select count(*) filter (where account_id = ${row.accountId})::int as own, count(*)::int as total from sandboxes`.execute(tx)
  const { own, total } = counts[0]!
  if (own >= max.ofAccount) return 'account'
  if (total >= max.ofService) return 'service'
  const { rows } = await sql<SandboxRow>`
    insert into sandboxes as s (account_id, hash, last4, starts_at, seed, now, status, lease_until, created_at, last_used_at)
    values (${row.accountId}, ${row.hash}, ${row.last4}, ${row.startsAt}, ${row.seed}, ${row.startsAt}, 'creating',
      ${databaseTime} + interval '2 minutes', ${row.createdAt}, ${row.createdAt})
    returning ${COLUMNS}`.execute(tx)
  return rows[0]!
}

/** The end of a creation. False if the row is gone: the account was erased meanwhile. */
export async function markReady(tx: Tx, id: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update sandboxes set status = 'ready', lease_until = null where id = ${id} and status = 'creating'`.execute(tx)
  return numAffectedRows === 1n
}

/** Takes a sandbox for work that nothing else may interrupt; null while somebody else has it. A failed one may be taken. */
export async function takeSandbox({ kysely }: Db, id: number, lease: string, now: Date): Promise<SandboxRow | null> {
  const { rows } = await sql<SandboxRow>`
    update sandboxes s set status = 'advancing', lease = ${lease}, lease_until = ${databaseTime} + ${LEASE}, problem = null,
      last_used_at = greatest(last_used_at, ${now})
    where s.id = ${id} and (s.status in ('ready', 'failed') or s.status = 'advancing' and s.lease_until < ${databaseTime})
    returning ${COLUMNS}`.execute(kysely)
  return rows[0] ?? null
}

/** What the holder of a lease has reached. */
export interface Reached {
  now: Date
  fired: readonly Fired[]
  firedTotal: number
}

/** Stores the progress and renews the lease. False if the lease was lost: the work must end. */
export async function keepSandbox({ kysely }: Db, id: number, lease: string, { now, fired, firedTotal }: Reached): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update sandboxes set now = ${now}, fired = ${JSON.stringify(fired)}::jsonb, fired_total = ${firedTotal}, lease_until = ${databaseTime} + ${LEASE}
    where id = ${id} and lease = ${lease} and status = 'advancing'`.execute(kysely)
  return numAffectedRows === 1n
}

/** Renews the lease alone. */
export async function renewLease({ kysely }: Db, id: number, lease: string): Promise<void> {
  await sql`
    update sandboxes set lease_until = ${databaseTime} + ${LEASE} where id = ${id} and lease = ${lease} and status = 'advancing'`.execute(kysely)
}

/** Ends the work. @param problem why it ended early; null if it did not */
export async function leaveSandbox({ kysely }: Db, id: number, lease: string, problem: SandboxProblem | null): Promise<void> {
  await sql`
    update sandboxes set status = ${problem === null ? 'ready' : 'failed'}, problem = ${problem}, lease = null, lease_until = null
    where id = ${id} and lease = ${lease} and status = 'advancing'`.execute(kysely)
}

/** Makes a new database the one of the sandbox, at its start. False if the lease was lost. */
export async function startAgain({ kysely }: Db, id: number, lease: string, generation: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update sandboxes set generation = ${generation}, now = starts_at, fired = '[]', fired_total = 0, status = 'ready', problem = null, lease = null,
      lease_until = null
    where id = ${id} and lease = ${lease} and status = 'advancing'`.execute(kysely)
  return numAffectedRows === 1n
}

/** Removes the row; its database is then nobody's. Work in progress loses its lease. @returns whether it existed */
export async function deleteSandboxRow(tx: Queryable, id: number, accountId: number | null): Promise<SandboxRow | null> {
  const { rows } = await sql<SandboxRow>`
    delete from sandboxes s where s.id = ${id} and (${accountId}::int is null or s.account_id = ${accountId}) returning ${COLUMNS}`.execute(tx)
  return rows[0] ?? null
}

/** Removes the rows of unused sandboxes, and of those whose creation was cut off. @returns their ids */
export async function deleteUnused({ kysely }: Db, now: Date): Promise<number[]> {
  const before = new Date(now.getTime() - UNUSED_DAYS * DAY_MS)
  const { rows } = await sql<{ id: number }>`
    delete from sandboxes where last_used_at < ${before} and (lease_until is null or lease_until < ${databaseTime})
      or status = 'creating' and lease_until < ${databaseTime}
    returning id`.execute(kysely)
  return rows.map(({ id }) => id)
}

/** The databases that the rows refer to. */
export async function usedDatabases({ kysely }: Db): Promise<{ id: number; generation: number }[]> {
  return kysely.selectFrom('sandboxes').select(['id', 'generation']).execute()
}

/** A row as responses show it. */
export function sandboxOf(row: SandboxRow): Sandbox {
  const { id, status, seed, last4, problem, fired, fired_total, last_used_at: used } = row
  return {
    id,
    status: status === 'creating' ? 'advancing' : status,
    now: row.now.toISOString(),
    starts_at: row.starts_at.toISOString(),
    seed,
    last4,
    created_at: row.created_at.toISOString(),
    last_used_at: used.toISOString(),
    removed_after: new Date(used.getTime() + UNUSED_DAYS * DAY_MS).toISOString(),
    problem,
    fired,
    fired_total,
  }
}
