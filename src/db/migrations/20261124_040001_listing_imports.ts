// Imports of listings, so that one can be undone. import_id: the import that parked a row last; null for imports of earlier releases.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `create table listing_imports (
    id integer generated always as identity primary key,
    account_id integer not null references accounts,
    created integer not null default 0,
    parked integer not null default 0,
    refused integer not null default 0,
    passed_over integer not null default 0,
    created_at timestamptz(3) not null,
    undone_at timestamptz(3),
    removed integer,
    kept integer,
    dropped integer
  )`,
  'create index listing_imports_by_account on listing_imports (account_id, id desc)',
  'create index listing_imports_by_time on listing_imports (created_at)',
  // The created listings; a row is kept when its listing is deleted.
  `create table listing_import_rows (
    import_id integer not null references listing_imports on delete cascade,
    listing_id integer not null,
    primary key (import_id, listing_id)
  )`,
  'alter table parked_listings add import_id integer',
]
