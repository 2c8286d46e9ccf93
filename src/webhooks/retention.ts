// Retention of events and attempt logs.
import { sql } from 'kysely'
import { DAY_MS } from '#core/duration.ts'
import type { Db } from '#db/schema.ts'
import { retrying } from '#db/connection/transaction.ts'

const BATCH = 1_000

/**
 * Deletes events older than the retention period, with their attempts, oldest first. Keeps pending events, and events
 * that were due or sent again within the period.
 * @returns number of deleted events
 */
export async function forgetOldEvents(db: Db, keepDays: number, now: Date): Promise<number> {
  const before = new Date(now.getTime() - keepDays * DAY_MS)
  let removed = 0
  // Ids increase with time: start at the lowest id and stop at the first batch with a newer event.
  for (let after: number | null = 0; after !== null; ) {
    const batch = await retrying(() => forgetAfter(db, after!, before))
    removed += batch.removed
    after = batch.next
  }
  return removed
}

async function forgetAfter(db: Db, after: number, before: Date): Promise<{ removed: number; next: number | null }> {
  const { rows } = await sql<{ removed: number; next: number | null }>`
    with oldest as (
      select id, created_at < ${before} as old from webhook_events where id > ${after} order by id limit ${BATCH}
    ), removed as (
      delete from webhook_events e using oldest o
      where e.id = o.id and o.old and e.state <> 'queued' and e.due_at < ${before}
      returning e.id
    ), forgotten as (
      select p.account_id, max(p.position) as position from event_positions p join removed r on r.id = p.event_id group by p.account_id
    ), moved as (
      update event_counters c set forgotten = f.position from forgotten f where c.account_id = f.account_id and f.position > c.forgotten
    )
    select (select count(*) from removed) as removed, (select case when bool_and(old) then max(id) end from oldest) as next`.execute(db.kysely)
  return rows[0]!
}
