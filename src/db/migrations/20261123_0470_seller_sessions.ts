// Sessions of the seller's desk: the API key used to sign in, the last use, and the expiry.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // Only a hash of the cookie is stored.
  `create table seller_sessions (
    id integer generated always as identity primary key,
    hash bytea not null unique,
    key_id integer not null references api_keys on delete cascade,
    created_at timestamptz(3) not null default now(),
    last_used_at timestamptz(3) not null,
    expires_at timestamptz(3) not null
  )`,
  'create index seller_sessions_by_expiry on seller_sessions (expires_at)',
  'create index seller_sessions_by_key on seller_sessions (key_id)',
]
