// How often searches returned each listing, by day (UTC).
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // No foreign key: a batch of counts must not fail because one of its listings has been deleted meanwhile.
  `create table listing_views (
    listing_id integer not null,
    day date not null,
    views integer not null check (views > 0),
    primary key (listing_id, day)
  ) with (fillfactor = 80)`,
  'create index listing_views_by_day on listing_views (day)',
]
