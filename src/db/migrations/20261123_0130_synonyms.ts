// The operator's search synonyms, in addition to the built-in ones; nodes follow their changes.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table synonyms (word text not null, means text not null, primary key (word, means))`.execute(db)
  await sql`alter table change_log drop constraint change_log_kind_check`.execute(db)
  await sql`
    alter table change_log add constraint change_log_kind_check check (kind in
      ('items', 'categories', 'groups', 'prices', 'evidence', 'rates', 'synonyms', 'accounts', 'operators', 'listings', 'sales'))`.execute(db)
}
