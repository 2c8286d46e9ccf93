// Pictures that listings link from elsewhere, and how far copying each of them is.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // url_hash: SHA-256 of url. photo_id: the copy. attempts: made so far.
  // next_at: when it is copied or tried again; null once it is copied, or given up. problem: why the last attempt failed.
  `create table picture_copies (
    id integer generated always as identity primary key,
    account_id integer not null references accounts,
    url text not null,
    url_hash bytea not null check (octet_length(url_hash) = 32),
    photo_id integer references photos on delete set null,
    attempts smallint not null default 0,
    next_at timestamptz(3),
    problem text check (problem in ('missing', 'failed', 'slow', 'unusable', 'full')),
    created_at timestamptz(3) not null,
    unique (account_id, url_hash)
  )`,
  'create index picture_copies_due on picture_copies (next_at) where next_at is not null',
  'create index picture_copies_of_photo on picture_copies (photo_id) where photo_id is not null',
  'create index picture_copies_by_age on picture_copies (created_at)',
]
