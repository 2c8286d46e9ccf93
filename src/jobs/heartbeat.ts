// Heartbeats of workers: each worker reports every few seconds, and any process can read how many are alive.
import { hostname } from 'node:os'
import { sql } from 'kysely'
import { databaseTime } from '#db/connection/database-time.ts'
import { newId } from '#core/process/time-and-chance.ts'
import type { Db, Queryable } from '#db/schema.ts'

/** A worker that has not reported for longer counts as stopped. */
export const ALIVE_SECONDS = 60
const FORGET_AFTER_DAYS = 7

export interface Workers {
  /** reported within the last minute and has not stopped since */
  alive: number
  /** since the last report of any worker; null if none has reported in the last days */
  lastSeenSeconds: number | null
}

export interface Heartbeat {
  beat(): Promise<void>
  /** Reports that the worker has stopped; without a database, it counts as alive for another minute. */
  leave(): Promise<void>
}

/** Reports this process as alive; call it every few seconds. */
export function workerHeartbeat(db: Db): Heartbeat {
  const id = newId()
  const write = async (stopped: boolean) => {
    await sql`
      with forgotten as (delete from workers where last_seen_at < ${databaseTime} - make_interval(days => ${FORGET_AFTER_DAYS}))
      insert into workers (id, host, last_seen_at, stopped) values (${id}, ${hostname()}, ${databaseTime}, ${stopped})
      on conflict (id) do update set last_seen_at = excluded.last_seen_at, stopped = excluded.stopped`.execute(db.kysely)
  }
  return { beat: () => write(false), leave: () => write(true).catch(() => {}) }
}

/** By the database's clock, which all workers write with. */
export async function workersSeen(on: Queryable): Promise<Workers> {
  const { rows } = await sql<Workers>`
    select count(*) filter (where not stopped and last_seen_at > ${databaseTime} - make_interval(secs => ${ALIVE_SECONDS}))::int as alive,
      extract(epoch from ${databaseTime} - max(last_seen_at))::float8 as "lastSeenSeconds"
    from workers`.execute(on)
  return rows[0]!
}
