// Deletes the results kept for repeated requests. Those of console sessions were encrypted with a key that follows from
// their own row, and new API keys are among them; which rows these are cannot be told. A request that is repeated across
// this upgrade runs again. What a node of the old version keeps during a rolling upgrade is deleted after 24 hours.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`delete from idempotency_keys`.execute(db)
}
