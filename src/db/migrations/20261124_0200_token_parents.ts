// The token with which a person's token was created, and with which it ends; null for those created in a session with a password.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table person_tokens add column parent_id integer references person_tokens`.execute(db)
  await sql`create index person_tokens_by_parent on person_tokens (parent_id) where parent_id is not null`.execute(db)
}
