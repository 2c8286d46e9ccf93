// Cancelled order lines: a separate table, so that sales never change and nodes of the previous release can still read them.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // The whole line is refunded. seller_id: copied from the sale. listing_status: status of the listing afterwards, null if it was deleted.
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
  // The basis of prices, averages, recent sales and statistics.
  `create view uncancelled_sales as
    select s.* from sales s where not exists (select from sale_cancellations c where c.sale_id = s.id)`,
]
