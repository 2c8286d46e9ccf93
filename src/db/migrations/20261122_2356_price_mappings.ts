// Saved column mappings of price lists, by name.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table price_mappings (
    name text primary key,
    mapping jsonb not null,
    author text not null,
    saved_at timestamptz(3) not null
  )`.execute(db)
}
