// What the service's own prices need besides its sales: buyers with an account here, the cheapest other offer at the time of a sale, and who is
// behind each price. New tables and a nullable column: nodes of the previous release ignore them.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  'alter table order_buyers alter column reference drop not null, add column account_id integer references accounts',
  // The cheapest published offer of another seller for the same item, label and language that was at least two days old when the sale was recorded.
  `create table sale_asks (
    sale_id integer primary key references sales,
    lowest numeric(12,2) not null
  )`,
  // changes_at: when the oldest sale that counts becomes too old. is_last: whether no sale is left that counts, so that the price stays. Prices
  // without a row are computed within the hour.
  `create table own_prices (
    item_id integer not null references items on delete cascade,
    label_id integer not null,
    buyers smallint not null,
    sellers smallint not null,
    cost numeric(14,2) not null,
    cost_buyers smallint not null,
    cost_sellers smallint not null,
    changes_at timestamptz(3) not null,
    is_last boolean not null,
    primary key (item_id, label_id)
  )`,
  'create index own_prices_by_change on own_prices (changes_at) where not is_last',
]
