// A record that a database contains the demo, and the last rows that the demo created; without it, the demo is never reset.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table demo_record (
      singleton boolean primary key default true check (singleton),
      made_at timestamptz(3) not null,
      last_account integer not null,
      last_item integer not null,
      last_import integer not null
    )`.execute(db)
}
