// The event feed of each account: a position per sale and expiry, marks of replays and checks, and when an account may request them again.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // A transaction that assigns positions locks the row until it ends, so positions follow the commit order, without gaps.
  `create table event_counters (
    account_id integer primary key references accounts,
    last bigint not null,
    forgotten bigint not null default 0
  )`,
  `create table event_positions (
    account_id integer not null,
    position bigint not null,
    event_id bigint not null unique references webhook_events on delete cascade,
    primary key (account_id, position)
  )`,

  // Whether the pending attempt is a replay.
  'alter table webhook_events add column replay boolean not null default false',
  // Null for deliveries from the queue.
  "alter table webhook_attempts add column mark text check (mark in ('replay', 'check'))",
  // Replays come after all other events of their receiver.
  `create index webhook_events_by_turn on webhook_events (account_id, replay, due_at, id)
    where state = 'queued' and lease_until is null`,

  `create table webhook_turns (
    account_id integer not null references accounts,
    action text not null check (action in ('check', 'replay')),
    at timestamptz(3) not null,
    primary key (account_id, action)
  )`,
]
