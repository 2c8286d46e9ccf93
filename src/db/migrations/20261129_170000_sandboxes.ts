// Sandboxes of accounts: each has a database of its own; these rows say whose they are, and what time it is in them.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `create table sandboxes (
    id integer generated always as identity primary key,
    account_id integer not null references accounts (id),
    hash bytea not null,
    last4 text not null,
    -- The start: a reset returns to it.
    starts_at timestamptz not null,
    seed bigint not null,
    now timestamptz not null,
    status text not null check (status in ('creating', 'ready', 'advancing', 'failed')),
    -- Names its database; each reset makes a new one.
    generation integer not null default 1,
    problem text,
    -- The result of the last advance.
    fired jsonb not null default '[]',
    fired_total integer not null default 0,
    -- Of the node that works in it; afterwards, another one may take over.
    lease uuid,
    lease_until timestamptz,
    created_at timestamptz not null,
    last_used_at timestamptz not null
  )`,
  'create unique index sandboxes_by_hash on sandboxes (hash)',
  'create index sandboxes_by_account on sandboxes (account_id)',
  'create index sandboxes_by_use on sandboxes (last_used_at)',
]
