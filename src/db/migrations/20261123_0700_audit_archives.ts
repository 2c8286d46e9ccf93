// Archived months of the audit log, and an index to read the log by time.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      `create table audit_archives (
        month text primary key,
        -- null: the month was restored, and stays in the database until it is archived by hand
        file text,
        rows bigint not null,
        checksum text not null,
        -- files that contained the month before: backups of the database from then need them
        earlier_files text[] not null default '{}',
        -- whether the entries of the month have been deleted from audit_log; until then nobody reads them
        emptied boolean not null,
        archived_at timestamptz(3) not null
      )`,
    )
    .execute(db)
  await sql`create index audit_log_by_time on audit_log (at)`.execute(db)
}
