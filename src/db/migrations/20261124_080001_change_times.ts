// Entries of the change log get the time at which they are written: in a long import, that of its beginning can be minutes old.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table change_log alter at set default clock_timestamp()`.execute(db)
}
