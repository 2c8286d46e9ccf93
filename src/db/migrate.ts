// Migrates the schema of a database to the program's version, forward only, by the files of src/db/migrations.
import { type Kysely, sql } from 'kysely'
import { type Migration, type MigrationResult, Migrator } from 'kysely/migration'
import { readdirSync } from 'node:fs'
import { chance, delay, monotonicMs } from '#core/process/time-and-chance.ts'
import { isSystemError } from './local/data-dir.ts'
import { retrying } from './connection/transaction.ts'

const LOCK_NOT_AVAILABLE = '55P03'
const DEADLOCK = '40P01'
const MIGRATIONS = new URL('./migrations/', import.meta.url)
/** Maximum attempts: each deadlock rolls all migrations back. */
const ATTEMPTS = 10
/** Lock timeout of one attempt: shorter than PostgreSQL's deadlock timeout of one second. */
const LOCK_MS = 300
/** How long a migration retries until no writer, such as an import, holds a lock. */
const PATIENCE_MS = 600_000

/** An error of PostgreSQL; `detail` names the locks of a deadlock. */
type DatabaseError = Error & { code?: string; detail?: string }

/**
 * Applies the missing migrations in the order of their names, in one transaction and under a lock, so that several
 * nodes can start at the same time.
 * @returns the names applied
 * @throws Error of one sentence if one fails, or if the database is newer than the program
 */
export async function migrate<Schema>(db: { kysely: Kysely<Schema> }, folder = MIGRATIONS): Promise<string[]> {
  const [first] = await pendingMigrations(db, folder)
  if (first === undefined) return []
  const locks = new WriterLocks()
  const migrator = new Migrator({ db: db.kysely, provider: { getMigrations: () => readMigrations(folder, first, locks) } })
  let results: readonly MigrationResult[] = []
  const attempt = async () => {
    const outcome = await migrator.migrateToLatest()
    results = outcome.results ?? []
    if (!outcome.error) return
    locks.noteDeadlock(outcome.error as DatabaseError)
    throw outcome.error
  }
  const endMs = monotonicMs() + PATIENCE_MS
  const unlessLocked = (error: Error & { code?: string }) => {
    if (error.code !== LOCK_NOT_AVAILABLE || monotonicMs() > endMs) throw error
    return true
  }
  try {
    while (await retrying(attempt, ATTEMPTS).then(() => false, unlessLocked)) await delay(LOCK_MS * chance())
  } catch (error) {
    const failed = results.find((result) => result.status === 'Error')
    const what = failed ? `Migration ${failed.migrationName} failed` : 'Migrating the database failed'
    throw new Error(`${what}: ${(error as Error).message}`, { cause: error })
  }
  return results.map((result) => result.migrationName)
}

/**
 * Names of the migrations that this database lacks.
 * @throws Error of one sentence if the database is newer than the program
 */
export async function pendingMigrations<Schema>(db: { kysely: Kysely<Schema> }, folder = MIGRATIONS): Promise<string[]> {
  const ownNames = namesIn(folder)
  const applied = await appliedNames(db)
  const unknown = applied.filter((name) => !ownNames.includes(name))
  if (unknown.length > 0) {
    throw new Error(`The database is newer than this program: it has ${unknown.at(-1)}; install a newer mintmark`)
  }
  return ownNames.filter((name) => !applied.includes(name))
}

/** @param first the first missing migration: the locks taken before it starts are held until the end of the transaction */
async function readMigrations(folder: URL, first: string, locks: WriterLocks): Promise<Record<string, Migration>> {
  const migrations: Record<string, Migration> = {}
  for (const name of namesIn(folder)) {
    const migration = (await import(new URL(`${name}.ts`, folder).href)) as Migration
    migrations[name] = name === first ? { up: (tx) => locks.take(tx).then(() => migration.up(tx)) } : migration
  }
  return migrations
}

/**
 * Locks all tables against writers. The previous release may be writing: a transaction that has locked one table and waits for another
 * that a migration has changed would deadlock with a later migration that needs the first table. A transaction that has only read a table
 * and waits to write deadlocks with a migration that alters that table: from the next attempt on, such a table is locked against readers, too.
 */
class WriterLocks {
  /** tables that could not be locked, most recent first: another transaction held one while it waited for a table that was already locked */
  #contended: string[] = []
  /** object ids of tables that a migration alters and could not lock because of a deadlock */
  readonly #altered = new Set<string>()

  /** Remembers the table for which a migration waited when it was the victim of a deadlock. */
  noteDeadlock({ code, detail = '' }: DatabaseError): void {
    const table = code === DEADLOCK ? /\d+/.exec(detail.split('AccessExclusiveLock')[1] ?? '')?.[0] : undefined
    if (table !== undefined) this.#altered.add(table)
  }

  /** Fails if a table cannot be locked soon; the next attempt begins with that table. */
  async take(tx: Kysely<unknown>): Promise<void> {
    const tables = sql<{ name: string; id: string }>`
      select oid::regclass::text as name, oid::text as id from pg_class
      where relkind in ('r', 'p') and not relispartition and relnamespace = current_schema()::regnamespace order by relname`
    const { rows } = await tables.execute(tx)
    const altered = new Set(rows.flatMap(({ id, name }) => (this.#altered.has(id) ? name : [])))
    const names = [...altered, ...rows.map(({ name }) => name)]
    await sql`set local lock_timeout = ${sql.lit(LOCK_MS)}`.execute(tx)
    for (const name of new Set([...this.#contended, ...names])) {
      try {
        const mode = altered.has(name) ? 'access exclusive' : 'share row exclusive'
        await sql`lock table ${sql.raw(name)} in ${sql.raw(mode)} mode`.execute(tx)
      } catch (error) {
        this.#contended = [name, ...this.#contended.filter((other) => other !== name)]
        throw error
      }
    }
    await sql`set local lock_timeout = 0`.execute(tx)
  }
}

function namesIn(folder: URL): string[] {
  try {
    const files = readdirSync(folder).filter((file) => /^\d.*\.ts$/.test(file) && !file.endsWith('.d.ts'))
    return files.map((file) => file.slice(0, -'.ts'.length)).sort()
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return []
    throw error
  }
}

async function appliedNames<Schema>(db: { kysely: Kysely<Schema> }): Promise<string[]> {
  const table = sql<{ there: boolean }>`select to_regclass('kysely_migration') is not null as there`
  if (!(await table.execute(db.kysely)).rows[0]?.there) return []
  const applied = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db.kysely)
  return applied.rows.map((row) => row.name)
}
