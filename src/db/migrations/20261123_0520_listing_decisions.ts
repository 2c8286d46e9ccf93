// Decisions about listings with the facts known at the time: for the seller's record, undo, and backtests of rules.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // One row per state of a listing that was queued or decided. facts: those known when it was queued; null if it was not queued, and before
  // this migration. before: the columns that the decision replaced, for an undo while the listing still has after_version. rule_id and
  // rule_version: the rule that decided; null for people.
  `create table listing_decisions (
    id integer generated always as identity primary key,
    listing_id integer not null,
    listing_version integer,
    seller_id integer not null,
    at timestamptz(3) not null,
    facts jsonb,
    decision text check (decision in ('approve', 'reject', 'request_change')),
    note text,
    decided_at timestamptz(3),
    decided_by text,
    before jsonb,
    after_version integer,
    rule_id integer,
    rule_version integer,
    undone_at timestamptz(3),
    undone_by text,
    check ((decision is null) = (decided_at is null)),
    check ((decision is null) = (decided_by is null)),
    unique (listing_id, listing_version)
  )`,
  'create index listing_decisions_by_seller on listing_decisions (seller_id, decision) where decision is not null and undone_at is null',
  'create index listing_decisions_by_time on listing_decisions (decided_at desc, id desc) where decision is not null',
  'create index listing_decisions_by_rule on listing_decisions (rule_id, id) where rule_id is not null',
  'create index listing_decisions_by_listing on listing_decisions (listing_id, id) where decision is not null',
  // Sellers' records start with the decisions in the audit log.
  `insert into listing_decisions (listing_id, seller_id, at, decision, note, decided_at, decided_by)
    select subject_id::int4, (after->>'seller_id')::int4, at, case action when 'listing.approve' then 'approve' else 'reject' end,
      after->>'rejection_reason', at, actor
    from audit_log where subject_type = 'listing' and action in ('listing.approve', 'listing.reject') and after ? 'seller_id'
    order by id`,
]
