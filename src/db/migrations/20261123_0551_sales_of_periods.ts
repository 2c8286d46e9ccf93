// Statistics sum the sales of a period: from an index alone, which also serves the lists that are ordered by time.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index sales_of_periods on sales (sold_at, id) include (seller_id, item_id, order_id, quantity, unit_price, payout)`.execute(db)
  await sql`drop index sales_by_time`.execute(db)
}
