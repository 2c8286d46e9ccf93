// Purchases and disposals of collection records, the method of profit, and listings made from records.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // Listings, records, collections: writes of nodes that are running lock them in this order.
  // No foreign key: deleting a record would lock its listing, while a sale locks the listing before the record.
  'alter table listings add column record_id integer',
  'create index listings_of_record on listings (record_id) where record_id is not null',

  // quantity: the copies owned now; 0 once all are disposed of. The record is its own first lot: of the copies that no other lot
  // explains (quantity + disposals that were not returned - lots), bought for purchase_price on purchase_date.
  'alter table collection_items drop constraint collection_items_quantity_check',
  'alter table collection_items add constraint collection_items_quantity_check check (quantity >= 0)',
  'alter table collection_items add column for_trade integer not null default 0 check (for_trade >= 0)',

  // unit_cost: per copy; null if unknown. fees: of the whole lot.
  `create table collection_lots (
    id integer generated always as identity primary key,
    record_id integer not null references collection_items on delete cascade,
    acquired_at date not null,
    quantity integer not null check (quantity > 0),
    unit_cost numeric(12,2) check (unit_cost >= 0),
    fees numeric(12,2) not null default 0 check (fees >= 0),
    currency text not null,
    source text not null check (source in ('bought', 'pulled', 'traded', 'gift', 'order')),
    created_at timestamptz(3) not null
  )`,
  'create index collection_lots_of_record on collection_lots (record_id)',

  // gross, fees, shipping: of all copies. order_id and line: of a sale in the market; returned_at: when the line was refunded.
  `create table collection_disposals (
    id integer generated always as identity primary key,
    record_id integer not null references collection_items on delete cascade,
    at date not null,
    quantity integer not null check (quantity > 0),
    gross numeric(14,2) not null check (gross >= 0),
    fees numeric(14,2) not null default 0 check (fees >= 0),
    shipping numeric(12,2) not null default 0 check (shipping >= 0),
    currency text not null,
    order_id bigint,
    line integer,
    returned_at date check (returned_at >= at),
    created_at timestamptz(3) not null,
    check ((order_id is null) = (line is null))
  )`,
  'create index collection_disposals_of_record on collection_disposals (record_id)',
  'create unique index collection_disposals_of_order on collection_disposals (order_id, line) where order_id is not null',

  `alter table collections add column method text not null default 'fifo' check (method in ('fifo', 'average'))`,
]
