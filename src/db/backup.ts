// Backs up a whole database to one file and restores it, using only COPY: works with any supported PostgreSQL, without client programs.
import { sql } from 'kysely'
import { createGunzip, createGzip } from 'node:zlib'
import { pipeline } from 'node:stream/promises'
import { pipeline as pass, Readable, type Writable } from 'node:stream'
import { monthAfter } from '#core/time.ts'
import { copyIn, copyOut } from './copy.ts'
import { raiseFloors } from './emptiness.ts'
import { holdPriceMonths, priceMonths } from './price-months.ts'
import type { Db, Queryable, Tx } from './schema.ts'

interface Header {
  mintmark_backup: 1
  created_at: string
  /** the restored database must have exactly these */
  migrations: string[]
  /** partitions of `price_points`, such as `2026-11` */
  months: string[]
  sequences: Record<string, number>
}

interface TableHeader {
  table: string
  columns: string[]
}

/** Tables that are derived from others or meaningless in another database, and stored results of repeated requests, which contain new keys. */
const LEFT_OUT = [
  'change_log',
  'change_log_floor',
  'catalogue_log_floor',
  'idempotency_keys',
  'rate_limit_leases',
  'workers',
  'start_marks',
  'watch_progress',
]
const END_OF_TABLE = '\\.'
const BATCH_CHARACTERS = 256 * 1024

export class BackupError extends Error {
  override name = 'BackupError'
}

/**
 * Writes everything as of one moment while other writes continue.
 * @returns rows by table
 */
export async function backup(db: Db, target: Writable, onTable: (table: string) => void = () => {}): Promise<Map<string, number>> {
  const rows = new Map<string, number>()
  await db.kysely
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (tx) => {
      await holdPriceMonths(tx)
      await pipeline(Readable.from(archive(tx, rows, onTable)), createGzip({ level: 6 }), target)
    })
  return rows
}

async function* archive(tx: Tx, rows: Map<string, number>, onTable: (table: string) => void): AsyncGenerator<string | Buffer> {
  const header: Header = {
    mintmark_backup: 1,
    created_at: new Date().toISOString(),
    migrations: await migrationNames(tx),
    months: await priceMonths(tx),
    sequences: await sequences(tx),
  }
  yield `${JSON.stringify(header)}\n`
  for (const { table, columns } of await tables(tx)) {
    onTable(table)
    yield `${JSON.stringify({ table, columns })}\n`
    let count = 0
    for await (const chunk of copyOut(tx, `copy (select ${columns.map(quoted).join(', ')} from ${quoted(table)}) to stdout`)) {
      for (let i = chunk.indexOf(10); i >= 0; i = chunk.indexOf(10, i + 1)) count += 1
      yield chunk
    }
    rows.set(table, count)
    yield `${END_OF_TABLE}\n`
  }
  yield `${END_OF_TABLE}\n`
}

/**
 * Replaces the content of a migrated database by a backup, in one transaction; running nodes then reload everything.
 * @param replace false rejects a database that has items or accounts
 * @throws BackupError if the file is not a complete backup, or has another version of the schema
 */
export async function restore(
  db: Db,
  source: AsyncIterable<Uint8Array>,
  { replace, onTable = () => {} }: { replace: boolean; onTable?: (table: string) => void },
): Promise<Map<string, number>> {
  const rows = new Map<string, number>()
  const lines = new LineReader(source)
  const header = readHeader(await lines.next())
  await db.kysely.transaction().execute(async (tx) => {
    const here = await migrationNames(tx)
    if (here.join() !== header.migrations.join()) {
      const last = header.migrations.at(-1) ?? 'none'
      throw new BackupError(`The backup has the schema version ${last}, this database ${here.at(-1) ?? 'none'}; use the same version of mintmark`)
    }
    const existing = await tables(tx)
    if (!replace && (await isFilled(tx))) {
      throw new BackupError('The database is not empty; use --replace to overwrite it')
    }
    await sql.raw(`truncate ${[...existing.map(({ table }) => table), ...LEFT_OUT].map(quoted).join(', ')}`).execute(tx)
    await attachMonths(tx, header.months)
    for (let line = await lines.next(); line !== END_OF_TABLE; line = await lines.next()) {
      const { table, columns } = readTable(line, existing)
      onTable(table)
      const statement = `copy ${quoted(table)} (${columns.map(quoted).join(', ')}) from stdin`
      rows.set(table, await copyIn(tx, statement, lines.untilEndOfTable()))
    }
    for (const [name, value] of Object.entries(header.sequences)) await sql`select setval(${name}::regclass, ${value})`.execute(tx)
    await raiseFloors(tx)
  })
  return rows
}

/** Lines of a gzipped text, one by one, or all lines of a table at once. */
class LineReader {
  readonly #lines: AsyncGenerator<string>

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#lines = unpackedLines(source)
  }

  async next(): Promise<string> {
    const line = await this.#lines.next()
    if (line.done) throw new BackupError('The file ends too early; the backup is incomplete')
    return line.value
  }

  async *untilEndOfTable(): AsyncGenerator<string> {
    let batch = ''
    for (let line = await this.next(); line !== END_OF_TABLE; line = await this.next()) {
      batch += `${line}\n`
      if (batch.length < BATCH_CHARACTERS) continue
      yield batch
      batch = ''
    }
    if (batch) yield batch
  }
}

async function* unpackedLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8')
  let pending = ''
  try {
    const unpacked = createGunzip()
    // Unlike `pipe`, this makes the loop throw the source's error.
    pass(Readable.from(source), unpacked, () => {})
    for await (const chunk of unpacked) {
      const lines = (pending + decoder.decode(chunk as Buffer, { stream: true })).split('\n')
      pending = lines.pop()!
      yield* lines
    }
  } catch (error) {
    if ((error as { code?: string }).code?.startsWith('Z_')) throw new BackupError('The file is damaged or not a backup')
    throw error
  }
}

function readHeader(line: string): Header {
  try {
    const header = JSON.parse(line) as Header
    if (header.mintmark_backup === 1) return header
  } catch {
    // Reported below.
  }
  throw new BackupError('The file is not a mintmark backup')
}

function readTable(line: string, existing: TableHeader[]): TableHeader {
  const found = JSON.parse(line) as TableHeader
  const here = existing.find(({ table }) => table === found.table)
  if (!here || found.columns.some((column) => !here.columns.includes(column))) {
    throw new BackupError(`The backup has a table ${found.table} that does not match this database`)
  }
  return found
}

/** Tables, each after the tables that it references. */
async function tables(db: Queryable): Promise<TableHeader[]> {
  const { rows } = await sql<TableHeader & { needs: string[] }>`
    select c.relname as table,
      (select array_agg(a.attname::text order by a.attnum) from pg_attribute a
       where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
      coalesce((select array_agg(distinct r.confrelid::regclass::text) from pg_constraint r
       where r.conrelid = c.oid and r.contype = 'f' and r.confrelid <> c.oid), '{}') as needs
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname not like 'kysely_%' and c.relname <> all(${LEFT_OUT}::text[])
    order by 1`.execute(db)
  const sorted: TableHeader[] = []
  let open = rows
  while (open.length > 0) {
    const waiting = new Set(open.map(({ table }) => table))
    const free = open.filter(({ needs }) => !needs.some((need) => waiting.has(need)))
    if (free.length === 0) throw new Error(`Tables have circular references: ${[...waiting].join(', ')}`)
    sorted.push(...free.map(({ table, columns }) => ({ table, columns })))
    open = open.filter((row) => !free.includes(row))
  }
  return sorted
}

async function migrationNames(db: Queryable): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db)
  return rows.map((row) => row.name)
}

async function attachMonths(tx: Tx, months: string[]): Promise<void> {
  const there = new Set(await priceMonths(tx))
  for (const month of months.filter((name) => !there.has(name))) {
    const table = quoted(`price_points_${month.replace('-', '_')}`)
    await sql.raw(`create table ${table} partition of price_points for values from ('${month}-01Z') to ('${monthAfter(month)}-01Z')`).execute(tx)
  }
}

async function sequences(db: Queryable): Promise<Record<string, number>> {
  const { rows } = await sql<{ name: string; value: number }>`
    select sequencename::text as name, last_value as value from pg_sequences
    where schemaname = 'public' and last_value is not null and sequencename not like 'change_log%'`.execute(db)
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
}

async function isFilled(db: Queryable): Promise<boolean> {
  const { rows } = await sql<{ filled: boolean }>`
    select exists (select 1 from items) or exists (select 1 from accounts) as filled`.execute(db)
  return rows[0]!.filled
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
