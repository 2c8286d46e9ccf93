// Index by item: merging moves an item's collection records, and deleting an item checks that there are none.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index collection_items_by_item on collection_items (item_id)`.execute(db)
}
