// Events of receiver checks no longer count as failed: those from before become `cancelled`, as checks are recorded now.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  // A seller can run one check a minute, so these are few.
  await sql`
    update webhook_events e set state = 'cancelled'
    where e.state = 'failed' and e.test and exists (select from webhook_attempts a where a.event_id = e.id and a.mark = 'check')`.execute(db)
}
