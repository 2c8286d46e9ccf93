// All rejected rows of an import as CSV, in gzip-compressed parts of complete lines.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      `create table import_refusals (
        import_id integer not null references imports on delete cascade,
        part integer not null,
        csv bytea not null,
        primary key (import_id, part)
      )`,
    )
    .execute(db)
  await sql.raw('alter table import_refusals alter column csv set storage external').execute(db)
}
