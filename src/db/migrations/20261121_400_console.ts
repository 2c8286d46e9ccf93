// Sessions of the operator console: the token used to sign in, and the expiry.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // Only a hash of the cookie is stored. The bootstrap token has no row, so its sessions store the token's hash.
  `create table console_sessions (
    id integer generated always as identity primary key,
    hash bytea not null unique,
    token_id integer references operator_tokens on delete cascade,
    bootstrap_hash bytea,
    created_at timestamptz(3) not null default now(),
    last_used_at timestamptz(3),
    expires_at timestamptz(3) not null,
    check ((token_id is null) <> (bootstrap_hash is null))
  )`,
  'create index console_sessions_by_expiry on console_sessions (expires_at)',
]
