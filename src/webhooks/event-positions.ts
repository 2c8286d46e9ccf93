// SQL of the feed: every event has a position among the events of its account, in commit order.
import { sql } from 'kysely'
import { traceparent } from '#core/network/tracing.ts'
import { announce } from '#db/connection/announce.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import type { FeedKind } from './events/event-body.ts'
import { WAKE_CHANNEL } from './delivery/queue.ts'

/** Notification channel for committed events; the payload is the account's id. */
export const EVENTS_CHANNEL = 'mintmark_events'

export interface AccountEvent {
  accountId: number
  kind: FeedKind
  body: string
  /** whether the webhook receives it; the feed contains all events */
  subscribed: boolean
}

/**
 * Writes events, queues those that their webhooks receive, and appends all of them to their account's feed. The account's
 * counter is locked until the transaction ends: the next position is assigned only after this one is committed or rolled back, so
 * that positions have no gaps, and a reader never sees a lower position later.
 */
export async function appendEvents(tx: Tx, events: readonly AccountEvent[], now: Date): Promise<void> {
  if (events.length === 0) return
  const states = events.map(({ subscribed }) => (subscribed ? 'queued' : 'cancelled'))
  await sql`
    with event as (
      select * from unnest(${events.map(({ accountId }) => accountId)}::int[], ${events.map(({ kind }) => kind)}::text[],
        ${events.map(({ body }) => body)}::text[], ${states}::text[]) with ordinality e (account_id, kind, body, state, n)
    ), counted as (
      insert into event_counters as c (account_id, last)
      select account_id, count(*) from event group by account_id order by account_id
      on conflict (account_id) do update set last = c.last + excluded.last
      returning account_id, last
    ), inserted as (
      insert into webhook_events (account_id, kind, body, state, due_at, created_at, traceparent)
      select account_id, kind, body, state, ${now}, ${now}, ${traceparent()}::text from event order by n
      returning id, account_id, state
    ), placed as (
      insert into event_positions (account_id, position, event_id)
      select i.account_id,
             c.last - count(*) over (partition by i.account_id) + row_number() over (partition by i.account_id order by i.id), i.id
      from inserted i join counted c on c.account_id = i.account_id
    )
    select from inserted`.execute(tx)
  for (const { accountId, subscribed } of events) {
    announce(tx, EVENTS_CHANNEL, String(accountId))
    if (subscribed) announce(tx, WAKE_CHANNEL, String(accountId))
  }
}

/** The requested part of an account's feed. */
export interface FeedRequest {
  accountId: number
  /** position after which to read; null for all stored events */
  after: number | null
  limit: number
}

export interface FeedBounds {
  /** position of the last deleted event; 0 for none */
  forgotten: number
  /** position of the newest event, 0 for none */
  last: number
}

export interface FeedPart extends FeedBounds {
  events: { position: number; eventId: number; body: string; delivered: boolean }[]
}

/** Start and end of an account's feed. */
export async function feedBounds(on: Queryable, accountId: number): Promise<FeedBounds> {
  const row = await on.selectFrom('event_counters').select(['forgotten', 'last']).where('account_id', '=', accountId).executeTakeFirst()
  return row ?? { forgotten: 0, last: 0 }
}

interface PartRow {
  n: number
  forgotten: number
  last: number
  position: number | null
  eventId: number
  body: string
  delivered: boolean
}

/** Reads parts of feeds in one statement; returns them in the order of the requests. */
export async function readParts(on: Queryable, asks: readonly FeedRequest[]): Promise<FeedPart[]> {
  const { rows } = await sql<PartRow>`
    select a.n::int as n, coalesce(c.forgotten, 0) as forgotten, coalesce(c.last, 0) as last, p.position, e.id as "eventId", e.body,
           exists (select 1 from webhook_attempts t where t.event_id = e.id and t.success) as delivered
    from unnest(${asks.map(({ accountId }) => accountId)}::int[], ${asks.map(({ after }) => after ?? 0)}::bigint[],
      ${asks.map(({ limit }) => limit)}::int[]) with ordinality a (account_id, after, most, n)
    left join event_counters c on c.account_id = a.account_id
    left join lateral (
      select position, event_id from event_positions
      where account_id = a.account_id and position > greatest(a.after, c.forgotten)
      order by position limit a.most
    ) p on true
    left join webhook_events e on e.id = p.event_id
    order by a.n, p.position`.execute(on)
  const parts: FeedPart[] = []
  for (const { n, forgotten, last, position, ...event } of rows) {
    const part = (parts[n - 1] ??= { events: [], forgotten, last })
    if (position !== null) part.events.push({ position, ...event })
  }
  return parts
}
