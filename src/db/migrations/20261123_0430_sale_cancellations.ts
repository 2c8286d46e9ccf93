// Cancelled order lines: a table of its own, so that a sale never changes and programs of the previous version go on reading sales.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // The whole line is refunded. seller_id is that of the sale; listing_status is what the listing became, null where it was deleted.
  `create table sale_cancellations (
    sale_id integer primary key references sales,
    seller_id integer not null references accounts,
    cancelled_at timestamptz(3) not null,
    cancelled_by text not null,
    reason text not null,
    listing_status text
  )`,
  'create index sale_cancellations_by_seller on sale_cancellations (seller_id, cancelled_at, sale_id)',
  'create index sales_by_seller on sales (seller_id, sold_at, id)',
  // What prices, averages, recent sales and statistics are made of.
  `create view uncancelled_sales as
    select s.* from sales s where not exists (select from sale_cancellations c where c.sale_id = s.id)`,
]
