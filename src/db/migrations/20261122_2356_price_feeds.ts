// Deliveries of each source, held prices of reverted imports, and evidence that merges move with prices.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // An import's delivery to a market: date of its newest price, and how many current prices it set or confirmed.
  `create table price_feeds (
    market smallint not null,
    import_id integer not null,
    newest timestamptz(3) not null,
    prices integer not null,
    primary key (market, import_id)
  )`,
  'create index price_feeds_by_date on price_feeds (market, newest desc)',
  // Prices that were pending when their import was reverted become pending again when the revert is undone.
  'alter table held_prices drop constraint held_prices_decision_check',
  `alter table held_prices add constraint held_prices_decision_check check (decision in ('accepted', 'discarded', 'reverted'))`,
  // As in prices; earlier releases name the columns that they read and write.
  `alter table merged_prices
    add column confirmed_at timestamptz(3),
    add column line integer,
    add column flags integer,
    add column avg_1 numeric(12,2),
    add column avg_7 numeric(12,2),
    add column avg_30 numeric(12,2),
    add column low numeric(12,2),
    add column mid numeric(12,2),
    add column high numeric(12,2),
    add column samples integer`,
]
