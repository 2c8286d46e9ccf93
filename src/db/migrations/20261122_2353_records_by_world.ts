// Indexes the source records of a world, of its sets, and those that no import states any more.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  "create index source_records_by_world on source_records (game, world, (facts->>'category'))",
  'drop index source_records_by_set',
  'create index source_records_inactive on source_records (game, world) where not active',
]
