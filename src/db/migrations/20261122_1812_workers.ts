// The last heartbeat of each worker, so that a setup without workers is noticed before sellers miss notifications.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`create table workers (
      id uuid primary key,
      host text not null,
      last_seen_at timestamptz(3) not null,
      stopped boolean not null default false
    )`)
    .execute(db)
}
