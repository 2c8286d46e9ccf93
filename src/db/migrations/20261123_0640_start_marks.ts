// Marks of start files: if a file's mark is missing, the database has a different history.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table start_marks (mark uuid primary key, at timestamptz not null default now())`.execute(db)
}
