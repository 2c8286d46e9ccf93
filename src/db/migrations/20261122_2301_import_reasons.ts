// Rejected rows of imports, counted by reason; null for imports from before this migration.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table imports add column reasons jsonb').execute(db)
}
