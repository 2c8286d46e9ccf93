// The trace of a write goes on where its changes are applied and its events are sent.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table change_log add column traceparent text`.execute(db)
  await sql`alter table webhook_events add column traceparent text`.execute(db)
}
