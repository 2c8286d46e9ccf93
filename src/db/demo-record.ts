// The record that this database contains the demo, with the last rows that the demo created.
import { sql } from 'kysely'
import type { Queryable } from './schema.ts'

/** Rows that others have added to a database with the demo. */
export interface Additions {
  accounts: number
  items: number
  imports: number
  people: number
}

/** Records that the demo has been created, and nothing else. */
export async function recordDemo(on: Queryable, now: Date): Promise<void> {
  await sql`
    insert into demo_record (made_at, last_account, last_item, last_import)
    select ${now}, (select coalesce(max(id), 0) from accounts), (select coalesce(max(id), 0) from items), (select coalesce(max(id), 0) from imports)`.execute(
    on,
  )
}

/** What others have added since the demo was created; null if the database does not contain the demo. */
export async function addedToDemo(on: Queryable): Promise<Additions | null> {
  const { rows } = await sql<Additions>`
    select (select count(*) from accounts where id > last_account)::int4 as accounts, (select count(*) from items where id > last_item)::int4 as items,
      (select count(*) from imports where id > last_import and not dry_run)::int4 as imports,
      (select count(*) from people where removed_at is null)::int4 as people
    from demo_record`.execute(on)
  return rows[0] ?? null
}
