// The previous secret of a webhook, which stays valid for a while after a rotation.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table webhooks add column previous_sealed_secret bytea, add column previous_valid_until timestamptz(3)`.execute(db)
}
