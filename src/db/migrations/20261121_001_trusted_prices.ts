// Queued and reverted imports, the price that a held price was compared with, and exchange rates for comparisons.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  'alter table imports drop constraint imports_status_check',
  `alter table imports add constraint imports_status_check check (status in ('queued', 'running', 'done', 'failed'))`,
  // All prices computed from the service's own sales belong to one batch.
  `insert into imports (format, market, author, status, percent, finished_at)
    values ('service-price', 'service', 'service', 'done', 100, now())`,
  'alter table imports add column reverted_by_import_id integer references imports',

  // Points of one import are adjacent on disk, so a BRIN index finds them at a fraction of a B-tree's size and upkeep.
  'create index price_points_by_import on price_points using brin (import_id) with (pages_per_range = 16, autosummarize = on)',
  // Points outside the history that may return: covered by another batch's price for the same moment, or withdrawn with their batch. A
  // batch's point is either here or in price_points.
  `create table hidden_points (
    import_id integer not null,
    item_id integer not null,
    market smallint not null,
    label_id integer not null,
    updated_at timestamptz(3) not null,
    price numeric(12,2) not null,
    withdrawn boolean not null,
    primary key (import_id, item_id, market, label_id, updated_at)
  )`,
  'create index hidden_points_covered on hidden_points (item_id, market, label_id, updated_at) where not withdrawn',

  'alter table held_prices add column compared_price numeric(12,2)',
  'alter table held_prices add column times_off real',
  'create index held_prices_by_key on held_prices (item_id, market, label_id, updated_at)',
  'create index held_prices_by_rule on held_prices (rule, id) where decision is null',

  `create table rates (
    currency text not null,
    day date not null,
    try_rate numeric(18,6) not null check (try_rate > 0),
    primary key (currency, day)
  )`,
]
