// Keeps the change log of the catalogue for readers outside, and knows from where on it is complete.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // Rows of the log about items, categories and prices are all there from this transaction on.
  `create table catalogue_log_floor (xact xid8 not null)`,
  // What earlier programs trimmed is gone: who reads from the start begins with the next transaction.
  `insert into catalogue_log_floor select pg_current_xact_id()`,
  // By a trigger, since programs of the previous version trim these rows, too, and do not know the floor.
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
