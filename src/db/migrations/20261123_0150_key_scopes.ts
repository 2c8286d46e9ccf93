// What API keys are limited to, how often each was used by day and operation, and items that changed without a new price.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // A table of its own, so that earlier programs find api_keys as they know it. Keys without limits have no row.
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
  // Neither their row nor the imports of their prices say so: a price was withdrawn or reverted, or moved with a merge.
  `create table changed_items (
    item_id integer primary key,
    changed_at timestamptz(3) not null
  )`,
]
