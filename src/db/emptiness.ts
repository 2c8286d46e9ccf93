// Checks whether a database contains only rows of migrations, and runs first-start work in one process at a time.
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Db } from './schema.ts'

/** Filled by migrations or by running nodes. */
const FILLED_BY_ITSELF = [
  'groups',
  'change_log',
  'change_log_floor',
  'catalogue_log_floor',
  'rate_limit_leases',
  'sign_in_attempts',
  'start_marks',
  'workers',
]
/** Conditions for rows written by users; the other rows come from migrations, or are the link of the first owner. */
const WRITTEN: Record<string, string> = { imports: "format <> 'service-price'", person_links: 'person_id is not null' }
const LOCK = 'mintmark first start'
const POLL_MS = 50

/** Whether no table has a row that a person or a program has written. New tables are included automatically. */
export async function isUntouched({ kysely }: Db): Promise<boolean> {
  const { rows: tables } = await sql<{ name: string }>`
    select c.relname as name from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname not like 'kysely_%' and c.relname <> all(${FILLED_BY_ITSELF}::text[])`.execute(kysely)
  const filled = tables.map(({ name }) => sql`exists (select from ${sql.table(name)} where ${sql.raw(WRITTEN[name] ?? 'true')})`)
  const { rows } = await sql<{ filled: boolean }>`select ${sql.join(filled, sql` or `)} as filled`.execute(kysely)
  return !rows[0]!.filled
}

/** Runs `run` while no other process on this database does: the second one sees what the first one has written. */
export function runExclusively<T>({ kysely }: Db, run: () => Promise<T>): Promise<T> {
  return kysely.transaction().execute(async (tx) => {
    for (;;) {
      const { rows } = await sql<{ got: boolean }>`select pg_try_advisory_xact_lock(hashtextextended(${LOCK}, 0)) as got`.execute(tx)
      if (rows[0]!.got) return run()
      await delay(POLL_MS)
    }
  })
}
