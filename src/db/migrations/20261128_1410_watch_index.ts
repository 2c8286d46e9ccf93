// Lets the best price of a label find the watches that it reaches, whatever other labels of the item cost.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index watches_by_amount on watches (item_id, kind, label_id, amount)`.execute(db)
  await sql`drop index watches_of_item`.execute(db)
}
