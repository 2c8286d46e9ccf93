// Records the newest dump, so that a node that cannot read it notices that it uses another folder.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table published_dump (
      one boolean primary key default true check (one),
      as_of timestamptz(3) not null
    )`.execute(db)
}
