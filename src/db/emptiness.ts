// Checks whether a database contains only rows of migrations, empties it to that state, and runs first-start work in one process at a time.
import { sql } from 'kysely'
import { delay } from '#core/process/time-and-chance.ts'
import type { Db, Queryable, Tx } from './schema.ts'

const FLOORS = ['change_log_floor', 'catalogue_log_floor']
/** Filled by migrations or by running nodes. */
const FILLED_BY_ITSELF = ['groups', 'change_log', ...FLOORS, 'rate_limit_leases', 'sign_in_attempts', 'start_marks', 'watch_progress', 'workers']
/** Conditions for rows written by users; the other rows come from migrations, or are the link of the first owner. */
const WRITTEN: Record<string, string> = { imports: "format <> 'service-price'", person_links: 'person_id is not null' }
const LOCK = 'mintmark first start'
const POLL_MS = 50

/** Whether no table has a row that a person or a program has written. New tables are included automatically. */
export async function isUntouched({ kysely }: Db): Promise<boolean> {
  const written = (await tableNames(kysely)).filter((name) => !FILLED_BY_ITSELF.includes(name))
  const filled = written.map((name) => sql`exists (select from ${sql.table(name)} where ${sql.raw(WRITTEN[name] ?? 'true')})`)
  const { rows } = await sql<{ filled: boolean }>`select ${sql.join(filled, sql` or `)} as filled`.execute(kysely)
  return !rows[0]!.filled
}

/** Tables with rows of migrations. */
const KEPT = ['groups', 'imports']
/** Tables of the change log: their numbers are never used again, so that a running node finds a gap and reloads everything. */
const LOGS = ['change_log', ...FLOORS]

/** Deletes all rows but those of migrations; ids start again at 1. */
export async function emptyDatabase(tx: Tx): Promise<void> {
  const names = (await tableNames(tx)).filter((name) => !KEPT.includes(name) && !LOGS.includes(name))
  await sql`truncate ${sql.join(names.map((name) => sql.table(name)))} restart identity`.execute(tx)
  await sql`truncate ${sql.join(LOGS.map((name) => sql.table(name)))}`.execute(tx)
  await sql`delete from ${sql.table('imports')} where ${sql.raw(WRITTEN.imports!)}`.execute(tx)
  await sql`select setval(pg_get_serial_sequence('imports', 'id'), (select max(id) from imports))`.execute(tx)
  await raiseFloors(tx)
}

/** Makes every node, and every reader of the change feed, find a gap and reload everything. */
export async function raiseFloors(tx: Tx): Promise<void> {
  for (const floor of FLOORS) await sql`insert into ${sql.table(floor)} select (pg_current_xact_id()::text::bigint + 1)::text::xid8`.execute(tx)
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

async function tableNames(on: Queryable): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select c.relname::text as name from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relname not like 'kysely_%'
    order by 1`.execute(on)
  return rows.map(({ name }) => name)
}
