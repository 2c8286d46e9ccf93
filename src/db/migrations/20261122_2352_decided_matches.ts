// Decided matches, with what each decision wrote and merged, so that it can be withdrawn.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // A former row of match_queue, with the same id. pairs: the match_decisions that the decision wrote.
  `create table decided_matches (
    id integer primary key,
    record_id integer not null,
    record_ids integer[] not null,
    game text not null,
    world text not null,
    set_ref text,
    reasons jsonb not null,
    candidates jsonb not null,
    waiting_since timestamptz(3) not null,
    decision text not null check (decision in ('accepted', 'separated')),
    item_id integer not null,
    pairs jsonb not null,
    merge_ids integer[] not null default '{}',
    author text not null,
    decided_at timestamptz(3) not null
  )`,
  'create index decided_matches_by_time on decided_matches (decided_at desc, id desc)',
  // Finds the records of the sets that a decision can affect.
  "create index source_records_by_set on source_records ((facts->>'category'))",
  // Merges that resulted from the decision about a set.
  `create table set_decision_merges (
    from_ref text not null,
    merge_id integer not null,
    primary key (from_ref, merge_id)
  )`,
]
