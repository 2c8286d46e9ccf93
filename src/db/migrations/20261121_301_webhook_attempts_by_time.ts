// Index for the statistics of receivers, which read only the attempts of the last day.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index webhook_attempts_by_time on webhook_attempts (finished_at) include (account_id, success)`.execute(db)
}
