// Usual wait for approval, from the decisions in the audit log.
import { sql } from 'kysely'
import { DAY_MS, MINUTE_MS } from '#core/duration.ts'
import type { Db } from '#db/schema.ts'
import type { UsualWait } from '../marketplace-types.ts'

/** Number and age of the decisions that count, newest first. */
const MAX_DECISIONS = 500
const WINDOW_MS = 30 * DAY_MS
const CACHE_MS = MINUTE_MS

const cached = new WeakMap<Db, { atMs: number; wait: UsualWait }>()

/** Times from submission to decision for the latest decisions, read at most once a minute. */
export async function usualWait(db: Db, now: Date): Promise<UsualWait> {
  const last = cached.get(db)
  if (last && Math.abs(now.getTime() - last.atMs) < CACHE_MS) return last.wait
  const wait = await readWaits(db, now)
  cached.set(db, { atMs: now.getTime(), wait })
  return wait
}

async function readWaits(db: Db, now: Date): Promise<UsualWait> {
  // The actions are literals, to match the index audit_log_of_decisions. Listings that did not wait in the queue, such as a published one taken down,
  // do not count.
  const { rows } = await sql<{ n: number; hours: number[] | null }>`
    select count(*)::int4 as n, percentile_cont(array[0.5, 0.9]) within group (order by extract(epoch from decided - queued) / 3600.0) as hours
    from (
      select (before ->> 'waiting_since')::timestamptz as queued, (after ->> 'updated_at')::timestamptz as decided
      from audit_log where action in ('listing.approve', 'listing.reject') order by id desc limit ${MAX_DECISIONS}
    ) decisions
    where queued is not null and decided > ${new Date(now.getTime() - WINDOW_MS)}`.execute(db.kysely)
  const { n, hours } = rows[0]!
  const [p50, p90] = (hours ?? []).map((value) => Math.round(value * 100) / 100)
  return { p50_hours: p50 ?? null, p90_hours: p90 ?? null, n }
}
