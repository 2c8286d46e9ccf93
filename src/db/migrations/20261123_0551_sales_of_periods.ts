// Statistics sum a period's sales with an index-only scan; the same index serves the lists ordered by time.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index sales_of_periods on sales (sold_at, id) include (seller_id, item_id, order_id, quantity, unit_price, payout)`.execute(db)
  await sql`drop index sales_by_time`.execute(db)
}
