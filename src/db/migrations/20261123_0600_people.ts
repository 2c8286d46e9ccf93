// People who run the service: their roles, credentials, sessions and tokens, one-time links, and counted sign-in attempts.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `create table people (
    id integer generated always as identity primary key,
    name text not null,
    -- the name as sign-ins compare it
    name_key text not null,
    roles text[] not null check (cardinality(roles) > 0),
    password_hash text,
    -- encrypted; the pending one counts once it is confirmed
    totp_secret bytea,
    totp_pending bytea,
    -- the 30 seconds of the last code that was accepted: no code is accepted twice
    totp_step bigint not null default 0,
    created_at timestamptz(3) not null,
    removed_at timestamptz(3)
  )`,
  'create unique index people_by_name on people (name_key) where removed_at is null',
  // Without a person: the link that creates the first owner. A new link replaces the previous one.
  `create table person_links (
    hash bytea primary key,
    person_id integer references people,
    expires_at timestamptz(3) not null,
    unique nulls not distinct (person_id)
  )`,
  `create table person_tokens (
    id integer generated always as identity primary key,
    person_id integer not null references people,
    label text not null,
    hash bytea not null unique,
    last4 text not null,
    created_at timestamptz(3) not null,
    last_used_at timestamptz(3),
    revoked_at timestamptz(3)
  )`,
  'create index person_tokens_by_person on person_tokens (person_id)',
  `create table person_sessions (
    id integer generated always as identity primary key,
    hash bytea not null unique,
    person_id integer not null references people,
    -- set where it was opened with a token, with which it ends
    token_id integer references person_tokens,
    address text not null,
    browser text not null,
    created_at timestamptz(3) not null,
    last_used_at timestamptz(3),
    expires_at timestamptz(3) not null
  )`,
  'create index person_sessions_by_person on person_sessions (person_id)',
  'create index person_sessions_by_expiry on person_sessions (expires_at)',
  // Keyed by a hash of the name, whether or not it exists.
  `create table sign_in_attempts (
    name_hash bytea primary key,
    attempts integer not null,
    ends_at timestamptz(3) not null
  )`,
  'create index sign_in_attempts_by_end on sign_in_attempts (ends_at)',
]
