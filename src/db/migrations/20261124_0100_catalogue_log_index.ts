// Finds catalogue changes in the log without examining those of listings and accounts between them.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index change_log_of_catalogue on change_log (xact, seq) where kind in ('items', 'categories', 'prices')`.execute(db)
}
