// What the operator may do with each source's prices; without a row, a source has the default of its market.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table source_terms (
      market smallint primary key,
      use text not null check (use in ('internal', 'show', 'redistribute')),
      licence text,
      author text,
      at timestamptz not null
    )`.execute(db)
  await sql`alter table change_log drop constraint change_log_kind_check`.execute(db)
  await sql`
    alter table change_log add constraint change_log_kind_check check (kind in
      ('items', 'categories', 'groups', 'prices', 'evidence', 'rates', 'synonyms', 'sources', 'accounts', 'operators', 'listings', 'sales'))`.execute(
    db,
  )
}
