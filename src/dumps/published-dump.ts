// The newest dump of all nodes, as recorded in the database.
import { sql } from 'kysely'
import type { Queryable } from '#db/schema.ts'
import type { DumpStore } from './dump-store.ts'
import type { Dump } from './dump-types.ts'

export async function recordDump(on: Queryable, { as_of }: Dump): Promise<void> {
  await sql`
    insert into published_dump (as_of) values (${as_of})
    on conflict (one) do update set as_of = greatest(published_dump.as_of, excluded.as_of)`.execute(on)
}

/** The time of the newest dump if this node's store does not have it: nodes then do not share their stores. Null if it has. */
export async function missingDump(on: Queryable, store: DumpStore): Promise<Date | null> {
  const recorded = await on.selectFrom('published_dump').select('as_of').executeTakeFirst()
  if (!recorded) return null
  const latest = await store.latest()
  return latest && Date.parse(latest.as_of) >= recorded.as_of.getTime() ? null : recorded.as_of
}
