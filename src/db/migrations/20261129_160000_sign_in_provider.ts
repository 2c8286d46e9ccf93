// People who sign in with an identity provider, and the sessions that it opened.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // Kept when a person is removed: the provider then no longer lets them in.
  'alter table people add column provider_issuer text, add column provider_subject text',
  'create unique index people_by_provider on people (provider_issuer, provider_subject)',
  // The provider has checked the second factor.
  'alter table person_sessions add column by_provider boolean not null default false',
]
