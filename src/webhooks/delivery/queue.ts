// The event queue in PostgreSQL: workers lease events and complete them; if a worker dies, others take over.
import { sql } from 'kysely'
import { announce } from '#db/connection/announce.ts'
import type { Db, Tx } from '#db/schema.ts'
import { inTransaction } from '#db/connection/transaction.ts'
import type { EventKind } from '../events/event-body.ts'
import type { Outcome, PostError } from './post.ts'

/** Notification channel for committed events to send; the payload is the account's id. */
export const WAKE_CHANNEL = 'mintmark_webhooks'
/** Attempts of a round: the first and two retries (interface.md, "Events" 5). */
export const ATTEMPTS = 3

/** Longer than any attempt takes; after this time, the worker is considered dead. */
const LEASE_MS = 10_000
const MAX_IN_FLIGHT = 5
/** Whether the webhook `w` receives a kind of event; the kinds that only the feed has have no setting. */
const receives = (kind: string) => sql`case ${sql.ref(kind)} when 'sale' then w.on_sale when 'expire' then w.on_expire else false end`
const INTERRUPTED: PostError = 'interrupted by a restart'

/** A started attempt: it counts, whatever its result. */
export interface Claim {
  eventId: number
  attemptId: number
  accountId: number
  kind: EventKind
  test: boolean
  body: string
  /** the span that caused the event, if it was traced */
  cause: string | null
  attempt: number
  /** attempts left in this round */
  attemptsLeft: number
  url: string
  sealedSecret: Buffer
  /** the secret before a rotation, while it is valid */
  previousSealedSecret: Buffer | null
  /** whether the receiver's last attempt failed */
  failing: boolean
}

export interface EndedAttempt {
  accountId: number
  attemptId: number
  outcome: Outcome
  /** when to try again if it failed; null after the last attempt */
  retryAt: Date | null
}

export interface ClaimRequest {
  accountIds: number[]
  /** maximum attempts per account to start now */
  each: number
  /** whether to include receivers whose last attempt failed (one attempt at a time) */
  failingToo: boolean
}

/**
 * Records ended attempts and starts the next ones, in one transaction. The receivers are locked, so that several workers
 * together respect the maximum of concurrent requests.
 */
export function settleAndClaim(db: Db, now: Date, ended: readonly EndedAttempt[], request: ClaimRequest): Promise<Claim[]> {
  const { accountIds } = request
  const involved = [...new Set([...accountIds, ...ended.map(({ accountId }) => accountId)])]
  return inTransaction(db, async (tx) => {
    const receivers = await sql<{ id: number; all_on: boolean }>`
      select account_id as id, is_active and on_sale and on_expire as all_on from webhooks
      where account_id = any(${involved}::int[]) order by account_id for no key update`.execute(tx)
    if (ended.length > 0) await settle(tx, now, ended)
    if (accountIds.length === 0) return []
    const claims = await claim(tx, now, request)
    const served = new Set(claims.map(({ accountId }) => accountId))
    const allOn = new Set(receivers.rows.filter((receiver) => receiver.all_on).map(({ id }) => id))
    const left = involved.filter((id) => !allOn.has(id) && !served.has(id))
    if (left.length > 0) await cancelUnwanted(tx, now, left)
    return claims
  })
}

/** Whether an attempt for the event `v` has succeeded; a later failed attempt does not change that. */
const DELIVERED_BEFORE = sql`exists (select 1 from webhook_attempts earlier where earlier.event_id = v.id and earlier.success)`

/** An attempt that was recorded as lost meanwhile stays lost. */
async function settle(tx: Tx, now: Date, ended: readonly EndedAttempt[]): Promise<void> {
  const rows = ended.map(({ attemptId, outcome, retryAt }) => ({
    attempt_id: attemptId,
    success: outcome.success,
    status_code: outcome.statusCode,
    error: outcome.error,
    response_excerpt: outcome.excerpt,
    retry_at: retryAt?.toISOString() ?? null,
  }))
  await sql`
    with ended as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as e (attempt_id bigint, success boolean,
        status_code integer, error text, response_excerpt text, retry_at timestamptz)
    ), logged as (
      update webhook_attempts a
      set finished_at = ${now}, success = e.success, status_code = e.status_code, error = e.error,
          response_excerpt = e.response_excerpt
      from ended e where a.id = e.attempt_id and a.finished_at is null
      returning a.event_id, a.account_id, a.attempt, a.success, a.mark, e.retry_at
    ), settled as (
      update webhook_events v
      set lease_until = null, due_at = coalesce(l.retry_at, v.due_at),
          state = case when l.success or (l.retry_at is null and ${DELIVERED_BEFORE}) then 'delivered'
                       when l.retry_at is null then 'failed' else 'queued' end
      from logged l where v.id = l.event_id and v.attempts = l.attempt and v.lease_until is not null
    )
    update webhooks w set failing = not l.answers
    from (select account_id, bool_or(success) as answers from logged where mark is null group by account_id) l
    where w.account_id = l.account_id and w.failing = l.answers`.execute(tx)
}

async function claim(tx: Tx, now: Date, { accountIds, each, failingToo }: ClaimRequest): Promise<Claim[]> {
  const { rows } = await sql<Claim>`
    with claimed as (
      update webhook_events v set attempts = v.attempts + 1, lease_until = ${new Date(now.getTime() + LEASE_MS)}
      from webhooks w join accounts a on a.id = w.account_id and not a.suspended
      cross join lateral (
        select count(*)::int as n from webhook_events f where f.account_id = w.account_id and f.lease_until > ${now}
      ) flight
      cross join lateral (
        select id from webhook_events q
        where q.account_id = w.account_id and q.state = 'queued' and q.lease_until is null and q.due_at <= ${now}
          and w.is_active and (q.test or ${receives('q.kind')})
        order by q.replay, q.due_at, q.id
        limit greatest(0, least(${each}::int,
          case when not w.failing then ${MAX_IN_FLIGHT}::int when ${failingToo} then 1 else 0 end - flight.n))
      ) next
      where w.account_id = any(${accountIds}::int[]) and v.id = next.id
      returning v.id, v.account_id, v.kind, v.test, v.body, v.traceparent, v.attempts, v.last_attempt, v.replay, w.url, w.sealed_secret, w.failing,
        case when w.previous_valid_until > ${now} then w.previous_sealed_secret end as previous_sealed_secret
    ), started as (
      insert into webhook_attempts (event_id, account_id, kind, test, attempt, started_at, mark)
      select id, account_id, kind, test, attempts, ${now}, case when replay then 'replay' end from claimed
      returning id, event_id
    )
    select c.id as "eventId", s.id as "attemptId", c.account_id as "accountId", c.kind, c.test, c.body, c.traceparent as cause, c.attempts as attempt,
           c.last_attempt - c.attempts as "attemptsLeft", c.url, c.sealed_secret as "sealedSecret",
           c.previous_sealed_secret as "previousSealedSecret", c.failing
    from claimed c join started s on s.event_id = c.id`.execute(tx)
  return rows
}

/** A paused, disabled or deleted webhook gets no further attempt. */
async function cancelUnwanted(tx: Tx, now: Date, accountIds: number[]): Promise<void> {
  await sql`
    update webhook_events v set state = 'cancelled'
    where v.account_id = any(${accountIds}::int[]) and v.state = 'queued' and v.lease_until is null and v.due_at <= ${now}
      and not exists (select from webhooks w where w.account_id = v.account_id
        and w.is_active and (v.test or ${receives('v.kind')}))`.execute(tx)
}

/** Cancels the pending attempts of an account whose webhook was deleted, also those that are not due yet. */
export async function cancelPending(tx: Tx, accountId: number): Promise<void> {
  await tx
    .updateTable('webhook_events')
    .set({ state: 'cancelled' })
    .where('account_id', '=', accountId)
    .where('state', '=', 'queued')
    .where('lease_until', 'is', null)
    .execute()
}

/**
 * Queues one further attempt for each event between two positions of an account's feed whose kind is enabled and
 * that has no pending attempt.
 * @returns number of queued attempts
 */
export async function queueReplay(tx: Tx, accountId: number, { after, until }: { after: number; until: number }, now: Date): Promise<number> {
  const { rows } = await sql<{ queued: number }>`
    with queued as (
      update webhook_events v set state = 'queued', due_at = ${now}, last_attempt = v.attempts + 1, replay = true
      from event_positions p join webhooks w on w.account_id = p.account_id
      where p.account_id = ${accountId} and p.position > ${after} and p.position <= ${until} and v.id = p.event_id
        and v.state <> 'queued' and ${receives('v.kind')}
      returning v.id
    )
    select count(*)::int as queued from queued`.execute(tx)
  announce(tx, WAKE_CHANNEL, String(accountId))
  return rows[0]!.queued
}

export interface WaitingAccount {
  accountId: number
  dueAt: Date
}

/** Marks the attempts of dead workers as lost and queues their events again: those whose lease ended before `until`. */
export async function requeueLostAttempts(db: Db, now: Date, until = now): Promise<void> {
  await sql`
    with lost as (
      update webhook_events v set lease_until = null,
        state = case when attempts < last_attempt then 'queued' when ${DELIVERED_BEFORE} then 'delivered' else 'failed' end
      where lease_until <= ${until}
      returning id, attempts
    )
    update webhook_attempts a set finished_at = ${now}, error = ${INTERRUPTED}
    from lost where a.event_id = lost.id and a.attempt = lost.attempts and a.finished_at is null`.execute(db.kysely)
}

/** When the first pending event of each account is due; those of suspended accounts wait until the account is resumed. */
export async function waitingAccounts(db: Db): Promise<WaitingAccount[]> {
  // Skips from account to account in the index, regardless of the number of events of each.
  const { rows } = await sql<WaitingAccount>`
    with recursive waiting as (
      (select account_id, due_at from webhook_events where state = 'queued' and lease_until is null
       order by account_id, due_at limit 1)
      union all
      select n.* from waiting w cross join lateral (
        select account_id, due_at from webhook_events e
        where state = 'queued' and lease_until is null and e.account_id > w.account_id
        order by account_id, due_at limit 1
      ) n
    )
    select w.account_id as "accountId", w.due_at as "dueAt" from waiting w
    join accounts a on a.id = w.account_id and not a.suspended`.execute(db.kysely)
  return rows
}
