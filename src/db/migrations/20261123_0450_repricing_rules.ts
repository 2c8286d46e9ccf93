// Repricing rules of sellers. terms: target, scope, floor and the rest, as sent. simulated_at: when the current terms were simulated; null
// for never.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `create table repricing_rules (
    id integer generated always as identity primary key,
    account_id integer not null references accounts,
    name text not null,
    enabled boolean not null default false,
    terms jsonb not null,
    simulated_at timestamptz(3),
    last_run_at timestamptz(3),
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    check (not enabled or simulated_at is not null)
  )`,
  'create index repricing_rules_by_account on repricing_rules (account_id, id)',
  // A run is a price job with its rule's id; the rule may be deleted. reason: why the rule sets the row's price.
  'alter table price_jobs add column rule_id integer',
  'alter table price_job_rows add column reason jsonb',
]
