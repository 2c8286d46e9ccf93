// The operator's aliases for words of sealed products, in addition to the built-in ones.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table sealed_aliases (words text primary key, means text not null)`.execute(db)
}
