// The connection pool, used through Kysely.
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
import pg from 'pg'
import { tracedStatement } from '#core/tracing/spans.ts'
import { parameterOf } from './array-text.ts'
import { ConnectionWatch } from './connection-watch.ts'
import { NoServerError, setServer, type Role, ROLE, Servers } from './servers.ts'
import { explainTls } from './tls-errors.ts'
import { isServerLost } from './transaction.ts'

/** Short enough that a waiting client gets its response in less than 3 s. */
const CONNECT_TIMEOUT_MS = 2_000
const PATIENCE_MS = 1_000
const IDENTITY = `select pg_backend_pid() as pid, ${ROLE}`
const KEEPALIVE_MS = 5_000
const MAX_STATEMENTS = 1_000

export interface Database<Schema> {
  kysely: Kysely<Schema>
  pool: pg.Pool
  /** the configured address, possibly with several servers */
  url: string
  /** For work that needs its own connection (LISTEN); everything else uses `kysely`. */
  connect(): Promise<pg.PoolClient>
  /** Waits for the connections in use and closes all. */
  close(): Promise<void>
}

export interface PoolOptions {
  /**
   * `postgresql://…`; a Unix socket as `?host=%2Fdirectory`. With several servers (`host1:port,host2:port`), the one that
   * accepts writes is used, or the one that `target_session_attrs` selects.
   */
  url: string
  /** Maximum number of connections. */
  max: number
  /** Shown in `pg_stat_activity`. */
  applicationName: string
  /** Maximum duration of a statement; unlimited if absent. */
  statementTimeoutMs?: number
  /** Timeout of a connection, new or from the pool; 2 s unless set. */
  connectTimeoutMs?: number
  /** How long the database may be silent before waiting statements fail (twice that in total); 1 s unless set. */
  patienceMs?: number
}

/** Makes the server release the locks of a vanished client within seconds; no effect on Unix sockets. */
const SERVER_KEEPALIVE = [
  'set tcp_keepalives_idle = 3',
  'set tcp_keepalives_interval = 1',
  'set tcp_keepalives_count = 3',
  'set tcp_user_timeout = 5000',
]

/**
 * Opens a pool; connections are opened when first needed. NUMERIC and DATE are returned as text, INT8 as a number (an error
 * beyond 2^53), TIMESTAMPTZ as `Date`, and arrays of these likewise. Sessions run in UTC.
 * @throws Error that says what is allowed in `url`
 */
export function openPool<Schema>(options: PoolOptions): Database<Schema> {
  // Set by a statement, not at the start of the connection: poolers reject unknown start-up parameters.
  const session = [`set time zone 'UTC'`, `set statement_timeout = ${options.statementTimeoutMs ?? 0}`, ...SERVER_KEEPALIVE, IDENTITY].join('; ')
  const servers = new Servers(options.url)
  const watch = new ConnectionWatch({ servers, patienceMs: options.patienceMs ?? PATIENCE_MS })
  const pool = new pg.Pool({
    connectionString: servers.url,
    max: options.max,
    application_name: options.applicationName,
    connectionTimeoutMillis: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_MS,
    types: { getTypeParser },
    Client: class extends PreparingClient {
      override connect = ((done: (error: Error) => void) => {
        try {
          watch.demandAnswer()
        } catch (error) {
          return process.nextTick(done, error)
        }
        const begin = (then: (error: Error) => void) => {
          watch.add(this)
          super.connect((error?: Error) => then((error && explainTls(error)) as Error))
        }
        if (!servers.choosing) return begin(done)
        servers.locate().then((server) => {
          // The pool has given up on this connection in the meantime.
          if (this.connection.stream.destroyed) return done(new NoServerError('Looking for the server took too long'))
          setServer(this, server)
          begin((error) => {
            if (error && isServerLost(error)) servers.forget(server)
            done(error)
          })
        }, done)
      }) as pg.Client['connect']
    },
    onConnect: async (client) => {
      // Several statements in one message have a result each.
      const results = (await client.query(session)) as unknown as pg.QueryResult<Role & { pid: number }>[]
      const identity = results.at(-1)!.rows[0]!
      if (!servers.fits(identity)) {
        const server = client as pg.Client
        servers.forget(server)
        throw new NoServerError(`${server.host}:${server.port} is not what is wanted any more`)
      }
      watch.identify(client, identity.pid)
    },
  })
  // A lost connection also fails its query; without these listeners, its event would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const connect = async () => {
    watch.demandAnswer()
    return connectTo(pool, servers)
  }
  const kysely = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => poolDriver({ pool, connect, servers }),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
  const close = async () => {
    watch.leave()
    servers.close()
    await pool.end()
    watch.close()
  }
  return { kysely, pool, url: options.url, connect, close }
}

/** Nothing has been sent yet, so if the server has just failed, the connection is retried on the server that took over. */
async function connectTo(pool: pg.Pool, servers: Servers, again = true): Promise<pg.PoolClient> {
  const before = servers.found
  const client = await pool.connect().catch((error: unknown) => {
    // The search is complete by now: the pool's own queue may have returned the old server.
    if (!again || before === null || servers.found === before) throw error
    return null
  })
  if (client === null) return connectTo(pool, servers, false)
  if (servers.isCurrent(client)) return client
  client.release(true)
  return connectTo(pool, servers, again)
}

/** Names parameterised statements, so that each connection parses and plans them once. */
class PreparingClient extends pg.Client {
  readonly #names = new Map<string, string>()

  override query: pg.Client['query'] = ((statement: never, values?: unknown, done?: unknown) => {
    const name = typeof statement === 'string' && Array.isArray(values) && values.length > 0 ? this.#nameOf(statement) : null
    return name === null
      ? super.query(statement, values as never, done as never)
      : super.query({ name, text: statement, values: values as never }, done as never)
  }) as pg.Client['query']

  /** A name per statement text; once this connection has many, new texts (such as lists of varying length) run unprepared. */
  #nameOf(text: string): string | null {
    const existing = this.#names.get(text)
    if (existing !== undefined) return existing
    if (this.#names.size >= MAX_STATEMENTS) return null
    const name = `s${this.#names.size}`
    this.#names.set(text, name)
    return name
  }
}

const { builtins } = pg.types
const TEXT_ARRAY = 1009
const INT8_ARRAY = 1016
const DATE_ARRAY = 1182
const NUMERIC_ARRAY = 1231
const textArray = pg.types.getTypeParser(TEXT_ARRAY as number) as (text: string) => (string | null)[]
const libraryTimestamptz = pg.types.getTypeParser(builtins.TIMESTAMPTZ)
const asText = (text: string) => text

const TIMESTAMPTZ_IN_UTC = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?\+00$/

const parsers = new Map<number, (text: string) => unknown>([
  [builtins.TIMESTAMPTZ, timestamptz],
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

/** The driver's own parser takes a match apart for each value. */
function timestamptz(text: string): unknown {
  if (!TIMESTAMPTZ_IN_UTC.test(text)) return libraryTimestamptz(text)
  return new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`)
}

/** Kysely's own driver hides its client, which COPY needs, and returns broken connections to its pool. */
class PoolConnection implements DatabaseConnection {
  readonly client: pg.PoolClient
  readonly #servers: Servers
  /** Must not be used again. */
  spoilt = false

  constructor(client: pg.PoolClient, servers: Servers) {
    this.client = client
    this.#servers = servers
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const values = query.parameters.map(parameterOf)
    const sent = tracedStatement(query.sql, (text, unique) => (unique ? this.client.query({ text, values }) : this.client.query(text, values)))
    const { command, rowCount, rows } = await sent.catch((error: Error) => {
      // A migration changed the columns of a statement that was prepared before: this connection would always fail.
      if (error.message.startsWith('cached plan must not change')) this.spoilt = true
      // The server is gone or became a standby: a new connection may reach the one that took over.
      if (isServerLost(error)) {
        this.spoilt = true
        this.#servers.forget(this.client)
      }
      throw error
    })
    const counts = command === 'INSERT' || command === 'UPDATE' || command === 'DELETE' || command === 'MERGE'
    return { rows: rows as Row[], numAffectedRows: counts ? BigInt(rowCount ?? 0) : undefined }
  }

  /** Closes at once, even while a statement runs. */
  end(): void {
    this.spoilt = true
    this.client.connection.stream.destroy()
  }

  streamQuery(): never {
    throw new Error('rows are streamed by copyOut')
  }
}

function poolDriver({ pool, connect, servers }: { pool: pg.Pool; connect: () => Promise<pg.PoolClient>; servers: Servers }): Driver {
  const run = async (connection: DatabaseConnection, sql: string) => {
    const result = await (connection as PoolConnection).client.query(sql)
    return result.command
  }
  return {
    init: async () => {},
    acquireConnection: async () => new PoolConnection(await connect(), servers),
    beginTransaction: async (connection, { isolationLevel, accessMode }: TransactionSettings) => {
      const isolation = isolationLevel ? ` isolation level ${isolationLevel}` : ''
      await run(connection, `begin${isolation}${accessMode ? ` ${accessMode}` : ''}`)
    },
    commitTransaction: async (connection) => {
      // After a failed statement, COMMIT succeeds but rolls back.
      if ((await run(connection, 'commit')) === 'ROLLBACK') throw new AbortedTransactionError()
    },
    rollbackTransaction: async (connection) => {
      await run(connection, 'rollback')
    },
    releaseConnection: async (connection) => {
      const { client, spoilt } = connection as PoolConnection
      client.release(spoilt || !servers.isCurrent(client) || client.getTransactionStatus() !== 'I')
    },
    destroy: () => pool.end(),
  }
}

/** The connection of a transaction, or one of the pool, for work that Kysely does not support. */
export function reserve(on: QueryExecutorProvider): Promise<{ connection: PoolConnection; release: () => void }> {
  return new Promise((resolve, reject) => {
    on.getExecutor()
      .provideConnection((connection) => new Promise<void>((release) => resolve({ connection: connection as PoolConnection, release })))
      .catch(reject)
  })
}
