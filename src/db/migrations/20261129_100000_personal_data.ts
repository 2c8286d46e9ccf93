// Erasures of people with their record, and the keys that seal fields of people in archives and backups.
import { type Kysely, sql } from 'kysely'

const STATEMENTS = [
  // buyer_reference: until the erasure is done. started_xact: transactions that began earlier may still write data of the person. swept_at: the last pass. storage_at: when the embedded database was rewritten without old row versions.
  `create table erasures (
    id integer generated always as identity primary key,
    kind text not null check (kind in ('account', 'buyer')),
    account_id integer unique references accounts,
    buyer_reference text unique,
    pseudonym text not null,
    reason text not null,
    requested_by text not null,
    state text not null default 'running' check (state in ('running', 'done')),
    counts jsonb not null default '{}',
    started_xact xid8 not null default pg_current_xact_id(),
    requested_at timestamptz(3) not null,
    finished_at timestamptz(3),
    swept_at timestamptz(3),
    storage_at timestamptz(3),
    check ((kind = 'account') = (account_id is not null))
  )`,
  `create index erasures_to_run on erasures (id) where state = 'running'`,
  // reference_hash: SHA-256 of a buyer's reference.
  `create table person_keys (
    id integer generated always as identity primary key,
    kind text not null check (kind in ('account', 'buyer')),
    account_id integer unique,
    reference_hash bytea unique,
    key bytea not null check (length(key) = 32),
    created_at timestamptz(3) not null default now(),
    check ((kind = 'account') = (account_id is not null) and (kind = 'buyer') = (reference_hash is not null))
  )`,
  // sealed: whether texts of people in the file are sealed.
  'alter table audit_archives add sealed boolean not null default false',
  // For erasures and exports of a buyer.
  'create index offers_by_reference on offers (buyer_reference)',
  'create index offers_by_buyer_account on offers (buyer_account_id) where buyer_account_id is not null',
  'create index order_buyers_by_account on order_buyers (account_id) where account_id is not null',
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}
