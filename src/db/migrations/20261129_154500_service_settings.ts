// Settings that operators changed while the service runs; they take precedence over the environment.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  // value and previous: texts as in the environment; null: the environment or the default applies.
  await sql`
    create table service_settings (
      name text primary key,
      value text,
      previous text,
      version integer not null,
      author text not null,
      changed_at timestamptz(3) not null
    )`.execute(db)
  await sql`alter table change_log drop constraint change_log_kind_check`.execute(db)
  await sql`
    alter table change_log add constraint change_log_kind_check check (kind in
      ('items', 'categories', 'groups', 'prices', 'evidence', 'rates', 'synonyms', 'sources', 'settings', 'accounts', 'operators', 'listings', 'sales'))`.execute(
    db,
  )
}
