// The heartbeat of workers: each says every few seconds that it is there, and anyone can ask how many are.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { sql } from 'kysely'
import type { Log } from '#core/context.ts'
import type { Db, Queryable } from '#db/schema.ts'

const BEAT_MS = 15_000
/** A worker that was not heard for longer counts as gone. */
export const ALIVE_SECONDS = 60
const FORGET_AFTER_DAYS = 7

export interface Workers {
  /** heard within the last minute and not stopped since */
  alive: number
  /** since the last word of any worker, null for none in the last days */
  lastSeenSeconds: number | null
}

/** Writes at once, and then every 15 s until it is stopped. */
export function startHeartbeat(db: Db, log: Log): { stop: () => Promise<void> } {
  const id = randomUUID()
  const write = (stopped: boolean) =>
    sql`
      with forgotten as (delete from workers where last_seen_at < now() - make_interval(days => ${FORGET_AFTER_DAYS}))
      insert into workers (id, host, last_seen_at, stopped) values (${id}, ${hostname()}, now(), ${stopped})
      on conflict (id) do update set last_seen_at = excluded.last_seen_at, stopped = excluded.stopped`.execute(db.kysely)
  const beat = async () => {
    try {
      await write(false)
    } catch (error) {
      log.warn({ err: error }, 'Failed to record the worker heartbeat; retrying')
    }
    beating = null
  }
  let beating: Promise<void> | null = beat()
  const timer = setInterval(() => {
    beating ??= beat()
  }, BEAT_MS).unref()
  return {
    stop: async () => {
      clearInterval(timer)
      await beating
      // Without a database to say it to, the worker counts as alive for a minute.
      await write(true).catch(() => {})
    },
  }
}

/** By the database's clock, which all workers write with. */
export async function workersSeen(on: Queryable): Promise<Workers> {
  const { rows } = await sql<Workers>`
    select count(*) filter (where not stopped and last_seen_at > now() - make_interval(secs => ${ALIVE_SECONDS}))::int as alive,
      extract(epoch from now() - max(last_seen_at))::float8 as "lastSeenSeconds"
    from workers`.execute(on)
  return rows[0]!
}
