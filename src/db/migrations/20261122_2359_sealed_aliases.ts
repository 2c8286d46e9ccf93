// Words of sealed products that mean others, as an operator adds them to those of the program.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table sealed_aliases (words text primary key, means text not null)`.execute(db)
}
