// Index of the watches that were last told of a listing, for listings that are deleted.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index watches_told_of_listing on watches (told_listing_id) where told_listing_id is not null`.execute(db)
}
