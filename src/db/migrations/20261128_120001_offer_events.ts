// Validates the kinds of events in a migration of its own, so that writes do not wait while all rows are read.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table webhook_events validate constraint webhook_events_kind_check`.execute(db)
}
