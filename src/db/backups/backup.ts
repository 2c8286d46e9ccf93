// Backs up a whole database to one file and restores it, using only COPY: works with any supported PostgreSQL, without client programs.
import { sql } from 'kysely'
import { createGunzip, createGzip } from 'node:zlib'
import { pipeline } from 'node:stream/promises'
import { pipeline as pass, Readable, type Writable } from 'node:stream'
import { machineNow } from '#core/process/time-and-chance.ts'
import { monthAfter } from '#core/time.ts'
import { copyIn, copyOut } from '../copy.ts'
import { raiseFloors } from '../emptiness.ts'
import { holdPriceMonths, priceMonths } from '../price-months.ts'
import { PersonKeys, restoreKeys, type StoredKey } from '../personal/person-keys.ts'
import { type ColumnFacts, OpenedRows, sealedTable, sealLines } from '../personal/sealed-rows.ts'
import type { Db, Queryable, Tx } from '../schema.ts'

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
  // An erasure must delete the only copies of a key that exist.
  'person_keys',
]
const END_OF_TABLE = '\\.'
const BATCH_CHARACTERS = 256 * 1024

export class BackupError extends Error {
  override name = 'BackupError'
}

/**
 * Writes everything as of one moment while other writes continue. Texts of people are sealed; `writeKeys` writes their keys to another file.
 * @param keysOn where keys of people are created that do not exist yet: the primary, if `db` is a replica
 * @returns rows by table
 */
export async function backup(
  db: Db,
  target: Writable,
  onTable: (table: string) => void = () => {},
  keysOn: Queryable = db.kysely,
): Promise<Map<string, number>> {
  const rows = new Map<string, number>()
  const keys = new PersonKeys(keysOn)
  await db.kysely
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (tx) => {
      await holdPriceMonths(tx)
      await pipeline(Readable.from(archive(tx, keys, rows, onTable)), createGzip({ level: 6 }), target)
    })
  return rows
}

async function* archive(tx: Tx, keys: PersonKeys, rows: Map<string, number>, onTable: (table: string) => void): AsyncGenerator<string | Buffer> {
  const header: Header = {
    mintmark_backup: 1,
    created_at: machineNow().toISOString(),
    migrations: await migrationNames(tx),
    months: await priceMonths(tx),
    sequences: await sequences(tx),
  }
  yield `${JSON.stringify(header)}\n`
  for (const { table, columns } of await tables(tx)) {
    onTable(table)
    yield `${JSON.stringify({ table, columns })}\n`
    let count = 0
    async function* counted(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const chunk of chunks) {
        for (let i = chunk.indexOf(10); i >= 0; i = chunk.indexOf(10, i + 1)) count += 1
        yield chunk
      }
    }
    const sealed = sealedTable(table, columns)
    const chunks = copyOut(tx, `copy (select ${sealed?.select ?? columns.map(quoted).join(', ')} from ${quoted(table)} t) to stdout`)
    for await (const chunk of sealed ? sealLines(keys, sealed, counted(chunks)) : counted(chunks)) yield chunk
    rows.set(table, count)
    yield `${END_OF_TABLE}\n`
  }
  yield `${END_OF_TABLE}\n`
}

/**
 * Replaces the content of a migrated database by a backup, in one transaction; running nodes then reload everything.
 * @param replace false rejects a database that has items or accounts
 * @param keys the file of keys of people; texts whose keys it lacks are lost, and their accounts are erased again
 * @throws BackupError if the file is not a complete backup, or has another version of the schema
 */
export async function restore(
  db: Db,
  source: AsyncIterable<Uint8Array>,
  { replace, keys, onTable = () => {} }: { replace: boolean; keys: readonly StoredKey[]; onTable?: (table: string) => void },
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
    const facts = await columnFacts(tx)
    const opened = new OpenedRows(new Map(keys.map(({ id, key }) => [id, key])))
    for (let line = await lines.next(); line !== END_OF_TABLE; line = await lines.next()) {
      const { table, columns } = readTable(line, existing)
      onTable(table)
      const statement = `copy ${quoted(table)} (${columns.map(quoted).join(', ')}) from stdin`
      rows.set(table, await copyIn(tx, statement, opened.lines(table, columns, facts.get(table)!, lines.untilEndOfTable())))
    }
    for (const [name, value] of Object.entries(header.sequences)) await sql`select setval(${name}::regclass, ${value})`.execute(tx)
    await restoreKeys(tx, keys)
    await eraseAgain(tx, [...opened.erasedAccounts])
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

/** A backup from before an erasure has rows that the erasure removed. */
async function eraseAgain(tx: Tx, accountIds: readonly number[]): Promise<void> {
  await sql`
    insert into ${sql.table('erasures')} (kind, account_id, pseudonym, reason, requested_by, requested_at)
    select 'account', id, 'Erased account ' || id, 'erased before this backup was restored', 'system', ${machineNow()}::timestamptz from unnest(${accountIds}::int4[]) id
    on conflict (account_id) do update set state = 'running'`.execute(tx)
  // Transaction ids of another database mean nothing here.
  await sql`update ${sql.table('erasures')} set started_xact = pg_current_xact_id()`.execute(tx)
  await sql`update ${sql.table('erasures')} set state = 'done', finished_at = ${machineNow()} where kind = 'buyer' and buyer_reference is null and state = 'running'`.execute(
    tx,
  )
}

async function columnFacts(tx: Tx): Promise<Map<string, Map<string, ColumnFacts>>> {
  const { rows } = await sql<{ table: string; column: string } & ColumnFacts>`
    select c.relname::text as table, a.attname::text as column, not a.attnotnull as nullable, format_type(a.atttypid, null) as type
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped`.execute(tx)
  const facts = new Map<string, Map<string, ColumnFacts>>()
  for (const { table, column, nullable, type } of rows)
    facts.set(table, (facts.get(table) ?? new Map<string, ColumnFacts>()).set(column, { nullable, type }))
  return facts
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
