// Price jobs: new prices and stock for many listings of an account, planned, applied and undone together.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // A planned job is expired once expires_at has passed.
  `create table price_jobs (
    id integer generated always as identity primary key,
    account_id integer not null references accounts,
    policy text not null check (policy in ('all', 'good_rows')),
    state text not null default 'planned' check (state in ('planned', 'applied', 'undone')),
    rows_total integer not null,
    rows_refused integer not null,
    changed integer not null default 0,
    reversed integer not null default 0,
    kept integer not null default 0,
    failed integer not null default 0,
    created_at timestamptz(3) not null,
    expires_at timestamptz(3) not null,
    applied_at timestamptz(3),
    undone_at timestamptz(3)
  )`,
  'create index price_jobs_by_account on price_jobs (account_id, id desc)',
  'create index price_jobs_by_time on price_jobs (created_at)',
  // Each row is updated when its job is applied or undone; the fill factor keeps these updates on its page and out of the index.
  // new_price and new_quantity are null if unchanged. Rows are kept when their listing is deleted.
  `create table price_job_rows (
    job_id integer not null references price_jobs on delete cascade,
    position integer not null,
    listing_id integer,
    sku text,
    old_price numeric(9,2),
    new_price numeric(9,2),
    old_quantity integer,
    new_quantity integer,
    payout numeric(9,2),
    rank integer,
    refused jsonb,
    outcome text check (outcome in ('changed', 'reversed', 'kept', 'failed')),
    why jsonb,
    old_changed_by jsonb,
    primary key (job_id, position)
  ) with (fillfactor = 60)`,
]
