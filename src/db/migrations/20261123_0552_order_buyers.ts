// The shop's reference of an order's buyer: a separate table, so that nodes of the previous release can still read orders.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table order_buyers (
      order_id bigint primary key references orders,
      reference text not null
    )`.execute(db)
  await sql`create index order_buyers_by_reference on order_buyers (reference)`.execute(db)
}
