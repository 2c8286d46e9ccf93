// Whether the ungraded prices of an import have a known condition, as its column mapping says. Other formats say so themselves, so earlier imports
// need no value; nodes of the previous release ignore the column.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table imports add column condition_known boolean not null default true`.execute(db)
}
