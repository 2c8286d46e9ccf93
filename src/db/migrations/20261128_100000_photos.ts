// Photos that sellers upload for their listings; the files are in the photo store.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // sha256: of the upload. size_hashes: SHA-256 of the files that are served. key: in addresses and file names.
  // unused_since: null while an unsold listing uses it, as of checked_at.
  // remove_after: null for a photo; otherwise its files are being written or no longer needed, and are removed after this time.
  `create table photos (
    id integer generated always as identity primary key,
    account_id integer not null references accounts,
    sha256 bytea not null check (octet_length(sha256) = 32),
    key text not null unique check (key ~ '^[0-9a-f]{32}$'),
    widths integer[] not null,
    size_hashes bytea[] not null,
    created_at timestamptz(3) not null,
    checked_at timestamptz(3) not null,
    unused_since timestamptz(3),
    remove_after timestamptz(3)
  )`,
  'create unique index photos_of_account on photos (account_id, sha256) where remove_after is null',
  'create index photos_by_content on photos (sha256)',
  'create index photos_by_size on photos using gin (size_hashes)',
  'create index photos_by_check on photos (checked_at) where remove_after is null',
  'create index photos_to_remove on photos (remove_after) where remove_after is not null',
]
