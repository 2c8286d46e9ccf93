// The version of a listing in which its price, its stock, and its content or SKU were last changed; null if never, or by an earlier release.
// Undoing compares these versions, because values can return to what they were. new_version: the listing's version after a job changed it.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table listings add priced_version integer, add stocked_version integer, add edited_version integer`.execute(db)
  await sql`alter table price_job_rows add new_version integer, add old_priced_version integer, add old_stocked_version integer`.execute(db)
}
