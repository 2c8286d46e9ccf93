// Restrictions of API keys, their usage by day and operation, and items that changed without a new price.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // A separate table, because earlier releases must find api_keys unchanged. Unrestricted keys have no row.
  `create table api_key_scopes (
    key_id integer primary key references api_keys on delete cascade,
    read_only boolean not null default false,
    allowed_origins text[] not null default '{}',
    allowed_addresses text[] not null default '{}'
  )`,
  `create table api_key_usage (
    key_id integer not null references api_keys on delete cascade,
    day date not null,
    operation text not null,
    requests bigint not null,
    primary key (key_id, day, operation)
  ) with (fillfactor = 80)`,
  'create index api_key_usage_by_day on api_key_usage (day)',
  // Changes that neither the item's row nor the imports of its prices show: prices withdrawn, reverted, or moved by a merge.
  `create table changed_items (
    item_id integer primary key,
    changed_at timestamptz(3) not null
  )`,
]
