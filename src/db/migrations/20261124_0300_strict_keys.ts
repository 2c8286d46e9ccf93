// Keys whose requests are refused for unknown query parameters.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table api_key_scopes add column strict boolean not null default false`.execute(db)
}
