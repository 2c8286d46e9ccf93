// Counts of items by game read this index alone.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index items_by_game on items (game, updated_at)`.execute(db)
}
