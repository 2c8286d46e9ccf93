// Counts whose past nothing else tells, noted day by day: active listings, items, and items with a price of each source.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  // The last note of a day counts; days without a row were not noted.
  await sql`
    create table day_counts (
      day date not null,
      name text not null,
      count integer not null,
      primary key (day, name)
    )`.execute(db)
}
