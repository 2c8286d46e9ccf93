// The links by which owners share collections: anyone who has the token may see the collection, without costs and notes.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // Null while private. A collection that was not private before this migration has none until its owner shares it.
  'alter table collections add column share_token text',
  'create unique index collections_by_share_token on collections (share_token) where share_token is not null',
]
