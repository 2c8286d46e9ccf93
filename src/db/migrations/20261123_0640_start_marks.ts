// Marks of the files that nodes start from: a database without the mark has another history than the file.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table start_marks (mark uuid primary key, at timestamptz not null default now())`.execute(db)
}
