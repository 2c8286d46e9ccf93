// Webhooks: one configuration per account, the events to deliver, and all delivery attempts.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // failing: the last attempt failed, so this receiver gets fewer turns than responsive ones.
  `create table webhooks (
    account_id integer primary key references accounts,
    url text not null,
    on_sale boolean not null,
    on_expire boolean not null,
    is_active boolean not null,
    sealed_secret bytea not null,
    failing boolean not null default false,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now()
  )`,

  // A queued event with lease_until is being delivered; once that time passes, its worker has died.
  `create table webhook_events (
    id bigint generated always as identity primary key,
    account_id integer not null references accounts,
    kind text not null check (kind in ('sale', 'expire')),
    test boolean not null default false,
    body text not null,
    state text not null default 'queued' check (state in ('queued', 'delivered', 'failed', 'cancelled')),
    attempts integer not null default 0,
    last_attempt integer not null default 3,
    due_at timestamptz(3) not null,
    lease_until timestamptz(3),
    created_at timestamptz(3) not null
  )`,
  `create index webhook_events_waiting on webhook_events (account_id, due_at, id)
    where state = 'queued' and lease_until is null`,
  `create index webhook_events_under_way on webhook_events (account_id, lease_until) where lease_until is not null`,
  'create index webhook_events_by_account on webhook_events (account_id, id desc)',
  'create index webhook_events_by_state on webhook_events (state, id desc)',

  // finished_at is null while the attempt is running; only finished attempts are shown.
  `create table webhook_attempts (
    id bigint generated always as identity primary key,
    event_id bigint not null references webhook_events on delete cascade,
    account_id integer not null,
    kind text not null,
    test boolean not null,
    attempt integer not null,
    status_code integer,
    success boolean not null default false,
    error text,
    response_excerpt text not null default '',
    started_at timestamptz(3) not null,
    finished_at timestamptz(3),
    unique (event_id, attempt)
  )`,
  'create index webhook_attempts_finished on webhook_attempts (account_id, id desc) where finished_at is not null',
]
