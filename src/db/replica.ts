// The streaming replica of DATABASE_REPLICA_URL: large reads that tolerate a short lag use it instead of the primary.
import { sql } from 'kysely'
import { type Reason, reason, textOf } from '#core/problems.ts'
import { openPool } from './connection/pool.ts'
import type { Db, Schema } from './schema.ts'

export interface LargeReads {
  /** null: everything is read from the primary */
  replicaUrl: string | null
  primary: Db
  log: { warn(details: object, message: string): void }
}

/** Large reads run one after another: the load at start, an export or a backup. */
const CONNECTIONS = 2

/** A small pool on the replica, for large reads only. */
export function openReplica(url: string): Db {
  return openPool<Schema>({ url, max: CONNECTIONS, applicationName: 'mintmark large reads' })
}

/**
 * Runs a large read on the replica, or on the primary if the replica cannot be used; the log then says why.
 * @throws what `read` throws
 */
export async function readFromReplica<T>({ replicaUrl, primary, log }: LargeReads, read: (db: Db) => Promise<T>): Promise<T> {
  if (replicaUrl === null) return read(primary)
  const replica = openReplica(replicaUrl)
  try {
    const doubt = await replicaProblem(replica, primary)
    if (doubt === null) return await read(replica)
    log.warn({}, `Not using the replica of DATABASE_REPLICA_URL: ${textOf(doubt)}`)
    return await read(primary)
  } finally {
    await replica.close()
  }
}

/**
 * Why the replica cannot replace the primary; null if it can. Positions in the change log are meaningless in another cluster.
 * @throws if the primary cannot be queried
 */
export async function replicaProblem(replica: Db, primary: Db): Promise<Reason | null> {
  const here = await clusterOf(primary)
  const there = await clusterOf(replica).catch((error: Error) => error)
  if (there instanceof Error) return reason('said', { text: there.message })
  if (there.cluster !== here.cluster) return reason('replica_other')
  return there.standby ? null : reason('replica_promoted')
}

async function clusterOf({ kysely }: Db): Promise<{ cluster: string; standby: boolean }> {
  const { rows } = await sql<{ cluster: string; standby: boolean }>`
    select system_identifier::text as cluster, pg_is_in_recovery() as standby from pg_control_system()`.execute(kysely)
  return rows[0]!
}
