// Archived months of the price history: the file of each month, and how to verify that it is complete.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      `create table price_archives (
        month text primary key,
        -- null: the month was restored, and stays in the database until it is archived by hand
        file text,
        rows bigint not null,
        checksum text not null,
        -- every point in the file was replaced by a later one before this moment
        replaced_before timestamptz(3) not null,
        import_ids integer[] not null,
        -- what had the month before: backups of the database from then need it
        earlier_files text[] not null default '{}',
        archived_at timestamptz(3) not null
      )`,
    )
    .execute(db)
}
