// Manual decisions about prices with the values they replaced, so that they can be undone, and manually confirmed prices.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // filter: how the prices were selected; null if they were listed.
  `create table price_decisions (
    id integer generated always as identity primary key,
    decision text not null check (decision in ('accept', 'discard', 'confirm', 'withdraw')),
    filter jsonb,
    author text not null,
    at timestamptz(3) not null,
    undone_by text,
    undone_at timestamptz(3),
    check ((undone_by is null) = (undone_at is null))
  )`,
  // before: the row of the current price, null if there was none; after_*: the current price after the decision. in_history: a withdrawn
  // price was a point of the history. kept: why undoing the decision left this price unchanged.
  `create table price_decision_prices (
    decision_id integer not null references price_decisions,
    item_id integer not null,
    market smallint not null,
    label_id integer not null,
    updated_at timestamptz(3) not null,
    price numeric(12,2) not null,
    import_id integer not null,
    held_id bigint,
    before jsonb,
    after_price numeric(12,2),
    after_updated_at timestamptz(3),
    after_import_id integer,
    in_history boolean not null default false,
    kept text check (kept in ('newer_price', 'reverted_import', 'merged_item', 'decided_since')),
    primary key (decision_id, item_id, market, label_id, updated_at)
  )`,
  // Valid while the current price is this one. decision_id: null for held prices accepted individually.
  `create table confirmed_prices (
    item_id integer not null,
    market smallint not null,
    label_id integer not null,
    updated_at timestamptz(3) not null,
    price numeric(12,2) not null,
    decision_id integer references price_decisions,
    author text not null,
    at timestamptz(3) not null,
    primary key (item_id, market, label_id, updated_at, price, at)
  )`,
  'create index confirmed_prices_by_decision on confirmed_prices (decision_id)',
  // Finds confirmed prices of merged items from their survivor.
  'create index item_aliases_by_item on item_aliases (item_id)',
  `create index held_prices_withdrawn on held_prices (item_id) where rule = 'withdrawn'`,
  // Counts the few prices in question without reading all prices.
  'create index prices_in_question on prices (item_id) where state > 0',
]
