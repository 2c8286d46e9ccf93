// Keeps the catalogue's change log for external readers, and records from where it is complete.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // From this transaction on, the log contains all changes of items, categories and prices.
  `create table catalogue_log_floor (xact xid8 not null)`,
  // Earlier releases have trimmed the log, so reading from the start begins with the next transaction.
  `insert into catalogue_log_floor select pg_current_xact_id()`,
  // A trigger, because nodes of the previous release also trim the log and do not know the floor.
  `create function raise_catalogue_log_floor() returns trigger language plpgsql as $$
    begin
      update catalogue_log_floor set xact = greatest(xact, trimmed.floor)
      from (select (max(xact::text::bigint) + 1)::text::xid8 as floor from gone where kind in ('items', 'categories', 'prices')) as trimmed
      where trimmed.floor > catalogue_log_floor.xact;
      return null;
    end
  $$`,
  `create trigger catalogue_log_trimmed after delete on change_log referencing old table as gone
    for each statement execute function raise_catalogue_log_floor()`,
]
