// The feed of each account's events: a place for every sale and expiry, marks of replays and checks, and when an account may ask again.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // The row is locked until the transaction ends that counts on it: positions are in the order of commits, without gaps.
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

  // Whether the attempt that waits is the one of a replay.
  'alter table webhook_events add column replay boolean not null default false',
  // Null for deliveries of the queue.
  "alter table webhook_attempts add column mark text check (mark in ('replay', 'check'))",
  // Replays go after everything else of their receiver.
  `create index webhook_events_by_turn on webhook_events (account_id, replay, due_at, id)
    where state = 'queued' and lease_until is null`,

  `create table webhook_turns (
    account_id integer not null references accounts,
    action text not null check (action in ('check', 'replay')),
    at timestamptz(3) not null,
    primary key (account_id, action)
  )`,
]
