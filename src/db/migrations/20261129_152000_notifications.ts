// Notifications: findings that operators or accounts were told about, who has read them, and their deliveries.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // account_id: null for operators. node: the machine that a finding is about, empty for findings about the service.
  // state and value: what the audience was told last. version counts how often it was told.
  `create table notifications (
    id integer generated always as identity primary key,
    account_id integer references accounts,
    subject text not null,
    node text not null,
    kind text not null,
    severity text not null check (severity in ('info', 'warning', 'critical')),
    params jsonb not null,
    state text not null,
    value double precision,
    version integer not null default 1,
    since timestamptz(3) not null,
    changed_at timestamptz(3) not null,
    resolved_at timestamptz(3),
    unique nulls not distinct (account_id, subject, node)
  )`,
  'create index notifications_resolved on notifications (resolved_at) where resolved_at is not null',
  `create table notification_reads (
    notification_id integer not null references notifications on delete cascade,
    reader text not null,
    version integer not null,
    primary key (notification_id, reader)
  )`,
  `create table notification_deliveries (
    id bigint generated always as identity primary key,
    notification_id integer not null references notifications on delete cascade,
    version integer not null,
    channel text not null check (channel in ('webhook', 'email')),
    body text not null,
    state text not null default 'queued' check (state in ('queued', 'delivered', 'failed', 'cancelled')),
    attempts integer not null default 0,
    due_at timestamptz(3) not null,
    lease_until timestamptz(3),
    finished_at timestamptz(3),
    error text,
    unique (notification_id, version, channel)
  )`,
  `create index notification_deliveries_due on notification_deliveries (channel, due_at) where state = 'queued'`,
]
