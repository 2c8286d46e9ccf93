// Counts whose history is not stored elsewhere, by day: active listings, items, and items with a price from each source.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  // The last recording of a day counts; days without a row were not recorded.
  await sql`
    create table day_counts (
      day date not null,
      name text not null,
      count integer not null,
      primary key (day, name)
    )`.execute(db)
}
