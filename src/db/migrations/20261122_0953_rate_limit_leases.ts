// Rate limit leases: how much of an account's limit its nodes have taken in the current minute.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  // Unlogged: writes do not wait for the disk, and after a crash a new minute starts.
  await sql
    .raw(
      `create unlogged table rate_limit_leases (
        account_id integer primary key,
        ends_at timestamptz not null,
        leased integer not null,
        granted integer not null,
        node integer not null,
        shared_at timestamptz not null
      ) with (fillfactor = 50)`,
    )
    .execute(db)
}
