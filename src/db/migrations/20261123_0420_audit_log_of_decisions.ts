// Finds the latest decisions on listings in the audit log, to estimate how long listings wait.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index audit_log_of_decisions on audit_log (id) where action in ('listing.approve', 'listing.reject')`.execute(db)
}
