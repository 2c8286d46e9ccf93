// Adds exchange rates to the change log, so that nodes follow their changes.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  'alter table change_log drop constraint change_log_kind_check',
  `alter table change_log add constraint change_log_kind_check check (kind in
    ('items', 'categories', 'groups', 'prices', 'rates', 'accounts', 'operators', 'listings', 'sales'))`,
]
