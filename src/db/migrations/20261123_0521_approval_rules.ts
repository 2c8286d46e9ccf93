// Approval rules: their conditions by version, and the verdict of each when a listing was queued.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `create table approval_rules (
    id integer generated always as identity primary key,
    name text not null,
    mode text not null check (mode in ('off', 'shadow', 'on')),
    version integer not null default 1,
    conditions jsonb not null,
    max_rejected_percent double precision not null check (max_rejected_percent between 0 and 100),
    min_decisions integer not null check (min_decisions > 0),
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null
  )`,
  `create table approval_rule_versions (
    rule_id integer not null references approval_rules,
    version integer not null,
    conditions jsonb not null,
    author text not null,
    at timestamptz(3) not null,
    primary key (rule_id, version)
  )`,
  `create table approval_rule_log (
    decision_id integer not null references listing_decisions,
    rule_id integer not null references approval_rules,
    rule_version integer not null,
    mode text not null check (mode in ('shadow', 'on')),
    approves boolean not null,
    primary key (rule_id, decision_id)
  )`,
  'create index approval_rule_log_by_decision on approval_rule_log (decision_id)',
]
