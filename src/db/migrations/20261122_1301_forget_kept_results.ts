// Deletes the results stored for repeated requests. Those of console sessions, which include new API keys, were encrypted with a key
// derived from their own row, and cannot be told apart. A request repeated across this upgrade runs again. Results that a node of the
// old version stores during a rolling upgrade are deleted after 24 hours.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`delete from idempotency_keys`.execute(db)
}
