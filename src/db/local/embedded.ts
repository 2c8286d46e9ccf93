// The embedded PostgreSQL server below the data directory, for services without DATABASE_URL.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { delay } from '#core/process/time-and-chance.ts'
import type { TextLog } from '#core/context.ts'
import {
  canRead,
  commandLine,
  ensureSecret,
  identify,
  isRunning,
  isSystemError,
  type ProcessIdentity,
  processStart,
  systemMessage,
} from './data-dir.ts'
import { chooseHome, type Home, LOCATION_FILE, changeOwner, readText } from './embedded-home.ts'
import { endServer, initialise, isCreated, postmasterFile, startServer, writePrivate, USER } from './postgres-server.ts'

export interface EmbeddedOptions {
  /** Claimed by the caller, see `claimDataDir`. */
  dataDir: string
  log: TextLog
  /** False trades safety against power failure for speed: tests only. */
  durable?: boolean
  /** maximum connections; 100 unless set */
  connections?: number
}

export interface EmbeddedServer {
  /** Connection string of the database `mintmark`; stays the same until `stop`. */
  url: string
  /** Current process number of the server. */
  pid(): number
  /** Shuts the server down cleanly, within 15 s. */
  stop(): Promise<void>
  /** version and location of the data, as text */
  describe: string
}

/** Where the server listens. */
interface Address {
  host: string
  port: number
  /** A directory created only for the socket, removed at the stop. */
  socketDir: string | null
}

/** Content of the connection file, with which other commands of this program find the server. */
interface Connection {
  url: string
  server: ProcessIdentity
  owner: ProcessIdentity
  socketDir: string | null
}

const CONNECTION_FILE = 'postgres-connection.json'

const PASSWORD_FILE = 'postgres-password'

const LOG_FILE = 'postgres.log'

/** Maximum length of a socket address, with the terminating byte (Linux 108, macOS 104). */
const MAX_SOCKET_PATH = process.platform === 'linux' ? 107 : 103

const SETTINGS = {
  shared_buffers: '128MB',
  work_mem: '16MB',
  maintenance_work_mem: '128MB',
  effective_cache_size: '1GB',
  random_page_cost: '1.1',
  max_wal_size: '2GB',
  // No replica or archive reads the write-ahead log: loading into a new table can bypass it.
  wal_level: 'minimal',
  max_wal_senders: '0',
  // A recycled file keeps its old content, also that of an erased person.
  wal_recycle: 'off',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Failed statements, with their values, are reported to the program and must not appear in a second log.
  log_min_messages: 'log',
  log_checkpoints: 'off',
  password_encryption: 'scram-sha-256',
  unix_socket_permissions: '0700',
} as const

const DURABLE = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' }

const VOLATILE = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }

/**
 * Starts PostgreSQL on `<dataDir>/postgres`, which the first start creates. A server left by a killed Mintmark process
 * is stopped first; one that crashes later is started again on the same address.
 * @throws Error of one sentence, with PostgreSQL's last message if there is one
 */
export async function startEmbedded({ dataDir, log, durable = true, connections = 100 }: EmbeddedOptions): Promise<EmbeddedServer> {
  try {
    return await start(dataDir, log, durable, connections)
  } catch (error) {
    if (!isSystemError(error)) throw error
    throw new Error(`Embedded PostgreSQL cannot start: ${systemMessage(error)}${error.path ? ` (${error.path})` : ''}`)
  }
}

/** Connection string of the embedded server that another Mintmark process runs on this directory, or null. */
export function embeddedConnection(dataDir: string): string | null {
  const connection = readConnection(dataDir)
  return connection && isRunning(connection.owner) && isRunning(connection.server) ? connection.url : null
}

export async function start(dataDir: string, log: TextLog, durable: boolean, connections: number): Promise<EmbeddedServer> {
  const before = readConnection(dataDir)
  if (before && isRunning(before.owner)) {
    throw new Error(`DATA_DIR ${dataDir} is in use by another mintmark (process ${before.owner.pid})`)
  }
  const home = chooseHome(dataDir, log)
  requirePassword(dataDir, home)
  const password = ensureSecret(dataDir, PASSWORD_FILE)
  await stopOrphan(home, log)
  if (before?.socketDir) fs.rmSync(before.socketDir, { recursive: true, force: true })
  await initialise(home, password, durable)
  // Record where the data is: a later start that does not find it there must fail instead of creating it again.
  if (dirname(home.data) !== fs.realpathSync(dataDir)) writePrivate(join(dataDir, LOCATION_FILE), dirname(home.data))

  const address = await chooseAddress(home)
  const logFile = join(dataDir, LOG_FILE)
  const args = serverArguments(home, address, { durable, connections })
  const url = urlOf(address, password, 'mintmark')

  let stopping = false
  let relaunching: Promise<void> | null = null
  let server = await launch()
  const onExit = () => void server.kill('SIGINT')
  process.on('exit', onExit)
  try {
    await createDatabase(urlOf(address, password, 'postgres'))
  } catch (error) {
    await stop()
    throw error
  }

  let stopped: Promise<void> | null = null
  return {
    url,
    pid: () => server.pid!,
    stop: () => (stopped ??= stop()),
    describe: `PostgreSQL ${home.version} (embedded), data in ${home.data}`,
  }

  async function launch(): Promise<ChildProcess> {
    const child = await startServer(home, args, logFile, log)
    const connection: Connection = {
      url,
      server: identify(child.pid!)!,
      owner: identify(process.pid)!,
      socketDir: address.socketDir,
    }
    writePrivate(join(dataDir, CONNECTION_FILE), JSON.stringify(connection))
    child.once('exit', () => {
      if (!stopping) relaunching = relaunch()
    })
    return child
  }

  async function relaunch(): Promise<void> {
    log.warn('Embedded PostgreSQL exited unexpectedly; restarting it')
    for (let pause = 100; !stopping; pause = Math.min(pause * 2, 2_000)) {
      try {
        server = await launch()
        return
      } catch (error) {
        log.warn(error instanceof Error ? error.message : String(error))
        await delay(pause)
      }
    }
  }

  async function stop(): Promise<void> {
    stopping = true
    process.off('exit', onExit)
    fs.rmSync(join(dataDir, CONNECTION_FILE), { force: true })
    await relaunching
    await endServer(server.pid!)
    if (address.socketDir) fs.rmSync(address.socketDir, { recursive: true, force: true })
  }
}

function serverArguments(home: Home, address: Address, { durable, connections }: { durable: boolean; connections: number }): string[] {
  const args = ['-D', home.data]
  const settings = {
    ...SETTINGS,
    ...(durable ? DURABLE : VOLATILE),
    max_connections: String(connections),
    port: String(address.port),
    listen_addresses: address.host.startsWith('/') ? '' : address.host,
    unix_socket_directories: address.host.startsWith('/') ? address.host : '',
  }
  for (const [name, value] of Object.entries(settings)) args.push('-c', `${name}=${value}`)
  return args
}

/** Without its password, a database cannot be used; the file is missing if DATA_DIR was removed while its database is stored elsewhere. */
function requirePassword(dataDir: string, home: Home): void {
  if (!isCreated(home) || fs.existsSync(join(dataDir, PASSWORD_FILE))) return
  const remedy = `Restore this file from a backup or, to start with an empty database, move ${home.data} away`
  throw new Error(`DATA_DIR ${dataDir} has no ${PASSWORD_FILE}, but its database exists in ${home.data}. ${remedy}`)
}

/** Stops a server left by a killed Mintmark process; removes its lock file if the process id now belongs to another process. */
async function stopOrphan(home: Home, log: TextLog): Promise<void> {
  const pid = Number(postmasterFile(home)[0])
  if (!pid || processStart(pid) === null) return
  if (commandLine(pid).includes(`-D ${home.data} `)) {
    log.warn(`Stopping PostgreSQL (process ${pid}), left running by a killed mintmark`)
    await endServer(pid)
  } else {
    fs.rmSync(join(home.data, 'postmaster.pid'), { force: true })
    fs.rmSync(join(home.data, '.s.PGSQL.5432.lock'), { force: true })
  }
}

/** A socket in the data directory, or in a short private one; loopback if neither is possible. */
async function chooseAddress(home: Home): Promise<Address> {
  if (fits(home.data)) return { host: home.data, port: 5432, socketDir: null }
  const socketDir = fs.mkdtempSync(join(tmpdir(), 'mintmark-'))
  changeOwner(home.user, socketDir)
  const reachable = !home.user || canRead(socketDir, home.user)
  if (fits(socketDir) && reachable) return { host: socketDir, port: 5432, socketDir }
  fs.rmSync(socketDir, { recursive: true, force: true })
  return { host: '127.0.0.1', port: await freePort(), socketDir: null }
}

function fits(directory: string): boolean {
  return Buffer.byteLength(join(directory, '.s.PGSQL.5432')) <= MAX_SOCKET_PATH
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  return typeof address === 'object' && address ? address.port : 0
}

function urlOf({ host, port }: Address, password: string, database: string): string {
  return `postgresql://${USER}:${password}@/${database}?host=${encodeURIComponent(host)}&port=${port}`
}

async function createDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const found = await client.query(`select 1 from pg_database where datname = 'mintmark'`)
    if (found.rowCount === 0) await client.query('create database mintmark')
  } finally {
    await client.end()
  }
}

function readConnection(dataDir: string): Connection | null {
  const text = readText(join(dataDir, CONNECTION_FILE))
  return text === null ? null : (JSON.parse(text) as Connection)
}
