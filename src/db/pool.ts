// The connection pool with Kysely on it, and COPY in and out of it for bulk data.
import {
  AbortedTransactionError,
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryExecutorProvider,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'

const CONNECT_TIMEOUT_MS = 3_000
const MAX_STATEMENTS = 500

export interface Database<Schema> {
  kysely: Kysely<Schema>
  /** For what needs a connection of its own (LISTEN); everything else goes through `kysely`. */
  pool: pg.Pool
  /** Waits for the connections in use and ends all. */
  close(): Promise<void>
}

export interface PoolOptions {
  /** `postgresql://…`; a Unix socket as `?host=%2Fdirectory`. */
  url: string
  /** Most connections at a time. */
  max: number
  /** Shown in `pg_stat_activity`. */
  applicationName: string
  /** Longest a statement may run; none when absent. */
  statementTimeoutMs?: number
}

/**
 * Opens a pool; connections are made when first needed. NUMERIC and DATE come as text, INT8 as a number (an error
 * beyond 2^53), TIMESTAMPTZ as `Date`, arrays of these alike. Sessions run in UTC.
 */
export function openPool<Schema>(options: PoolOptions): Database<Schema> {
  // By statement, not at the start of the connection: poolers refuse start-up parameters they do not know.
  const session = `set time zone 'UTC'; set statement_timeout = ${options.statementTimeoutMs ?? 0}`
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.max,
    application_name: options.applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    types: { getTypeParser },
    Client: PreparingClient,
    onConnect: (client) => client.query(session),
  })
  // A lost connection also fails the query on it; without these listeners its event would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const kysely = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => poolDriver(pool),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
  return { kysely, pool, close: () => pool.end() }
}

/**
 * Streams `copy (select …) to stdout …`; each chunk holds whole or split rows as they come from the server.
 * @param on `db.kysely`, or a transaction to read in its snapshot
 */
export async function* copyOut(on: QueryExecutorProvider, sql: string): AsyncGenerator<Buffer, void> {
  const { connection, release } = await reserve(on)
  let over = false
  try {
    yield* connection.client.query(copyTo(sql)) as AsyncIterable<Buffer>
    over = true
  } catch (error) {
    over = true
    throw error
  } finally {
    // Left early, the server would wait for ever to send the rest: only the end of the connection stops it.
    if (!over) connection.end()
    release()
  }
}

/**
 * Feeds `copy table (…) from stdin …` and returns the number of rows taken. When the source fails, nothing is kept.
 * @param on a transaction to load as a part of it, or `db.kysely`
 */
export async function copyIn(
  on: QueryExecutorProvider,
  sql: string,
  chunks: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>,
): Promise<number> {
  const { connection, release } = await reserve(on)
  try {
    const sink = connection.client.query(copyFrom(sql))
    await pipeline(chunks, sink)
    return sink.rowCount
  } finally {
    release()
  }
}

/**
 * Field `i` of a row lies at `offsets[i]` with `lengths[i]` bytes, big-endian; NULL has length -1. Buffer and arrays
 * are used again for the next row: read at once, keep nothing.
 */
export type BinaryRow = (buffer: Buffer, offsets: Int32Array, lengths: Int32Array) => void

const COPY_SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1')
const MAX_COLUMNS = 1_664

/**
 * Reads the stream of `copy … to stdout (format binary)` without an object per row.
 * @returns the number of rows
 * @throws Error when the stream is no binary COPY or ends early
 */
export async function readBinaryCopy(chunks: AsyncIterable<Buffer>, onRow: BinaryRow): Promise<number> {
  const offsets = new Int32Array(MAX_COLUMNS)
  const lengths = new Int32Array(MAX_COLUMNS)
  let rest: Buffer | null = null
  let rows = 0
  let headerRead = false
  let ended = false
  for await (const chunk of chunks) {
    const buffer: Buffer = rest ? Buffer.concat([rest, chunk]) : chunk
    const size = buffer.length
    let at = 0
    if (!headerRead) {
      const headerSize = size < 19 ? Infinity : 19 + buffer.readUInt32BE(15)
      if (size >= 11 && !buffer.subarray(0, 11).equals(COPY_SIGNATURE)) throw new Error('no binary COPY stream')
      headerRead = size >= headerSize
      at = headerRead ? headerSize : size + 1
    }
    while (at + 2 <= size) {
      const fields = (buffer[at]! << 24 >> 16) | buffer[at + 1]!
      if (fields < 0) {
        ended = true
        break
      }
      let next = at + 2
      let field = 0
      for (; field < fields && next + 4 <= size; field++) {
        const length = int4At(buffer, next)
        next += 4
        offsets[field] = next
        lengths[field] = length
        if (length > 0) next += length
      }
      if (field < fields || next > size) break
      onRow(buffer, offsets, lengths)
      rows++
      at = next
    }
    rest = at === size ? null : buffer.subarray(at > size ? 0 : at)
  }
  if (!ended) throw new Error('binary COPY stream ended early')
  return rows
}

/** An `int4` (or `date`: days since 2000-01-01) of a binary row. */
export function int4At(buffer: Buffer, offset: number): number {
  return (buffer[offset]! << 24) | (buffer[offset + 1]! << 16) | (buffer[offset + 2]! << 8) | buffer[offset + 3]!
}

/** An `int8` of a binary row; exact up to 2^53. */
export function int8At(buffer: Buffer, offset: number): number {
  return int4At(buffer, offset) * 0x1_0000_0000 + (int4At(buffer, offset + 4) >>> 0)
}

/** Names parameterised statements, so that each connection parses and plans them once. */
class PreparingClient extends pg.Client {
  override query: pg.Client['query'] = ((statement: never, values?: unknown, done?: unknown) => {
    const name = typeof statement === 'string' && Array.isArray(values) && values.length > 0 ? nameOf(statement) : null
    return name === null
      ? super.query(statement, values as never, done as never)
      : super.query({ name, text: statement, values: values as never }, done as never)
  }) as pg.Client['query']
}

const statementNames = new Map<string, string>()

/** A name per text; once the table is full, new texts (lists of changing length, say) run unprepared. */
function nameOf(text: string): string | null {
  const known = statementNames.get(text)
  if (known !== undefined) return known
  if (statementNames.size >= MAX_STATEMENTS) return null
  const name = `s${statementNames.size}`
  statementNames.set(text, name)
  return name
}

const { builtins } = pg.types
const TEXT_ARRAY = 1009
const INT8_ARRAY = 1016
const DATE_ARRAY = 1182
const NUMERIC_ARRAY = 1231
const textArray = pg.types.getTypeParser(TEXT_ARRAY as number) as (text: string) => (string | null)[]
const asText = (text: string) => text

const parsers = new Map<number, (text: string) => unknown>([
  [builtins.INT8, int8],
  [INT8_ARRAY, (text) => textArray(text).map((value) => (value === null ? null : int8(value)))],
  [builtins.NUMERIC, asText],
  [NUMERIC_ARRAY, textArray],
  [builtins.DATE, asText],
  [DATE_ARRAY, textArray],
])

function getTypeParser(oid: number, format?: 'text' | 'binary') {
  return (format !== 'binary' && parsers.get(oid)) || pg.types.getTypeParser(oid, format as 'text')
}

function int8(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`int8 ${text} does not fit a number`)
  return value
}

/** Kysely's own driver hides its client, which COPY needs, and gives back connections that are no good any more. */
class PoolConnection implements DatabaseConnection {
  readonly client: pg.PoolClient
  /** Not to be used again. */
  spoilt = false

  constructor(client: pg.PoolClient) {
    this.client = client
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const { command, rowCount, rows } = await this.client.query(query.sql, [...query.parameters]).catch((error: Error) => {
      // A migration changed the columns of a statement prepared before it: this connection would fail for ever.
      if (error.message.startsWith('cached plan must not change')) this.spoilt = true
      throw error
    })
    const counts = command === 'INSERT' || command === 'UPDATE' || command === 'DELETE' || command === 'MERGE'
    return { rows: rows as Row[], numAffectedRows: counts ? BigInt(rowCount ?? 0) : undefined }
  }

  /** At once, whatever is under way. */
  end(): void {
    this.spoilt = true
    this.client.connection.stream.destroy()
  }

  streamQuery(): never {
    throw new Error('rows are streamed by copyOut')
  }
}

function poolDriver(pool: pg.Pool): Driver {
  const run = async (connection: DatabaseConnection, sql: string) => {
    const result = await (connection as PoolConnection).client.query(sql)
    return result.command
  }
  return {
    init: async () => {},
    acquireConnection: async () => new PoolConnection(await pool.connect()),
    beginTransaction: async (connection, { isolationLevel, accessMode }: TransactionSettings) => {
      const isolation = isolationLevel ? ` isolation level ${isolationLevel}` : ''
      await run(connection, `begin${isolation}${accessMode ? ` ${accessMode}` : ''}`)
    },
    commitTransaction: async (connection) => {
      // After a failed statement COMMIT succeeds, as a ROLLBACK.
      if ((await run(connection, 'commit')) === 'ROLLBACK') throw new AbortedTransactionError()
    },
    rollbackTransaction: async (connection) => {
      await run(connection, 'rollback')
    },
    releaseConnection: async (connection) => {
      const { client, spoilt } = connection as PoolConnection
      client.release(spoilt || client.getTransactionStatus() !== 'I')
    },
    destroy: () => pool.end(),
  }
}

/** Takes the one connection of a transaction, or one of the pool, for work that Kysely does not know. */
function reserve(on: QueryExecutorProvider): Promise<{ connection: PoolConnection; release: () => void }> {
  return new Promise((resolve, reject) => {
    on.getExecutor()
      .provideConnection((connection) =>
        new Promise<void>((release) => resolve({ connection: connection as PoolConnection, release })),
      )
      .catch(reject)
  })
}
