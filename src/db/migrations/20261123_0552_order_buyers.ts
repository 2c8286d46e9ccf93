// The shop's own reference of the buyer of an order: a table of its own, so that programs of the previous version go on reading orders.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table order_buyers (
      order_id bigint primary key references orders,
      reference text not null
    )`.execute(db)
  await sql`create index order_buyers_by_reference on order_buyers (reference)`.execute(db)
}
