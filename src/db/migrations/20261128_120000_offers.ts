// Offers of buyers for listings, and the kind of feed event that tells sellers about them.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // title, listing_price, content_hash: of the listing when the offer was made. An accepted offer is the order `order_id`.
  // Offers that are still open at expires_at count as expired from then on, whatever their status.
  `create table offers (
    id integer generated always as identity primary key,
    listing_id integer references listings on delete set null,
    seller_id integer not null references accounts,
    title text not null,
    listing_price numeric(9, 2) not null,
    content_hash bytea not null check (octet_length(content_hash) = 32),
    order_id bigint not null,
    buyer_reference text not null,
    buyer_account_id integer references accounts,
    quantity integer not null check (quantity > 0),
    unit_price numeric(9, 2) not null check (unit_price > 0),
    counter_price numeric(9, 2) check (counter_price > 0),
    status text not null check (status in ('open', 'countered', 'accepted', 'declined', 'withdrawn', 'expired')),
    created_at timestamptz(3) not null,
    changed_at timestamptz(3) not null,
    expires_at timestamptz(3) not null
  )`,
  `create unique index offers_under_way on offers (listing_id, buyer_reference) where status in ('open', 'countered')`,
  `create unique index offers_by_order on offers (order_id) where status in ('open', 'countered', 'accepted')`,
  `create index offers_to_expire on offers (expires_at) where status in ('open', 'countered')`,
  'create index offers_of_buyer on offers (listing_id, buyer_reference, created_at)',
  'create index offers_of_seller on offers (seller_id, id desc)',
  'create index offers_by_change on offers (changed_at)',
  'alter table webhook_events drop constraint webhook_events_kind_check',
  `alter table webhook_events add constraint webhook_events_kind_check check (kind in ('sale', 'expire', 'offer'))`,
]
