// Watches of prices and offers, how far they have been compared with changes, and the kind of feed event that tells about them.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // label_id, language: null for any. told_day, told_*: the day of the last event, and what it stated; told_price is null once that no longer holds.
  // due_day: from this day on, the watch must be compared although its item has not changed. Removed watches are deleted on the next day.
  `create table watches (
    id integer generated always as identity primary key,
    account_id integer not null references accounts on delete cascade,
    kind text not null check (kind in ('offer_below', 'price_below', 'price_above')),
    item_id integer not null references items on delete cascade,
    label_id integer references groups,
    language text,
    amount numeric(12, 2) not null check (amount > 0),
    currency text not null,
    removed boolean not null default false,
    told_day date,
    told_price numeric(12, 2),
    told_market smallint,
    told_listing_id integer,
    due_day date,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    check (kind = 'offer_below' or (label_id is not null and language is null)),
    unique nulls not distinct (account_id, item_id, kind, label_id, language)
  ) with (fillfactor = 80)`,
  'create index watches_of_item on watches (item_id, kind, amount)',
  'create index watches_due on watches (due_day) where due_day is not null',
  'create index watches_told on watches (item_id) where told_price is not null',
  'create index watches_removed on watches (told_day) where removed',
  // position, last_seq, server: as far as the change log has been read, and the start time of the server that it was read from.
  `create table watch_progress (
    one boolean primary key default true check (one),
    position text,
    last_seq bigint,
    server text,
    vacations_until timestamptz(3),
    lease_until timestamptz(3)
  )`,
  `create table merged_watches (
    merge_id integer not null references merges on delete cascade,
    watch_id integer not null references watches on delete cascade,
    primary key (merge_id, watch_id)
  )`,
  'create index merged_watches_by_watch on merged_watches (watch_id)',
  'alter table webhook_events drop constraint webhook_events_kind_check',
  `alter table webhook_events add constraint webhook_events_kind_check check (kind in ('sale', 'expire', 'offer', 'watch'))`,
]
