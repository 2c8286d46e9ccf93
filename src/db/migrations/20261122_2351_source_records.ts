// Statements of each source about a card or product, separate from the items; match decisions, and the queue of pending records.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // A printing of a card, or a product, as one source states it; finish is '' if it states none. Only records of the same world (a language
  // family of a game, or its sealed products) can be the same item. A record whose imports are all reverted is inactive and keeps its id.
  `create table source_records (
    id integer generated always as identity primary key,
    source text not null,
    foreign_id text not null,
    finish text not null default '',
    game text not null,
    world text not null,
    facts jsonb not null,
    active boolean not null default true,
    unique (source, foreign_id, finish)
  )`,
  // The facts that an import stated about a record; null: equal to the record's facts. Import 0: facts from before source records existed.
  `create table source_statements (
    import_id integer not null,
    record_id integer not null,
    facts jsonb,
    withdrawn boolean not null default false,
    primary key (import_id, record_id)
  )`,
  'create index source_statements_by_record on source_statements (record_id)',
  // Links of records to items: one, or every finish of the card if the record states none (whole); none while it is pending.
  `create table item_sources (
    record_id integer not null,
    item_id integer not null,
    whole boolean not null default false,
    method text not null,
    confidence smallint not null,
    decided_by text,
    decided_at timestamptz(3) not null default now(),
    primary key (record_id, item_id)
  )`,
  'create index item_sources_by_item on item_sources (item_id)',

  // Links of the emptied item's records that a merge moved to the survivor. moved: the survivor did not already have the link.
  `create table merged_sources (
    merge_id integer not null,
    record_id integer not null,
    whole boolean not null,
    method text not null,
    confidence smallint not null,
    decided_by text,
    decided_at timestamptz(3) not null,
    moved boolean not null,
    primary key (merge_id, record_id)
  )`,
  // Merges made by an import, undone when it is reverted.
  `create table import_merges (
    import_id integer not null,
    merge_id integer not null,
    primary key (import_id, merge_id)
  )`,

  // Codes and shop ids that other sources use for a set; kept for a category that a restored import brings back.
  `create table category_codes (
    category_id integer primary key,
    codes text[] not null default '{}',
    shop_ids jsonb not null default '[]'
  )`,
  // An import's change of a category; before is null if the import created it.
  `create table category_changes (
    import_id integer not null,
    category_id integer not null,
    market text not null,
    ref text not null,
    before jsonb,
    after jsonb not null,
    primary key (import_id, category_id)
  )`,

  // Manual decisions: kinds 'same', 'apart' and 'postponed' name records by key, 'set' names sets by ref ('' for none).
  `create table match_decisions (
    id integer generated always as identity primary key,
    kind text not null check (kind in ('same', 'apart', 'set', 'postponed')),
    a text not null,
    b text not null default '',
    author text not null,
    decided_at timestamptz(3) not null default now(),
    unique (kind, a, b)
  )`,
  // Records pending a decision, rewritten by each assignment of their game; an id is kept while its record is pending.
  `create table match_queue (
    id integer generated always as identity primary key,
    record_id integer not null unique,
    record_ids integer[] not null,
    game text not null,
    world text not null,
    set_ref text,
    postponed boolean not null default false,
    reasons jsonb not null,
    candidates jsonb not null,
    waiting_since timestamptz(3) not null default now()
  )`,
  `create table match_set_maps (
    from_ref text not null,
    to_ref text not null,
    game text not null,
    world text not null,
    agree integer not null,
    cards integer not null,
    decided boolean not null,
    decided_by text,
    primary key (from_ref, to_ref)
  )`,
]
