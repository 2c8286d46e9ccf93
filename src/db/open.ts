// Opens the database of the settings: the configured one, the embedded one that already runs, or one started now.
import type { Config } from '#config.ts'
import type { TextLog } from '#core/context.ts'
import { readDatabaseAddress } from '#core/network/database-address.ts'
import { claimDataDir } from './local/data-dir.ts'
import { embeddedConnection, startEmbedded } from './local/embedded.ts'
import { openPool } from './connection/pool.ts'
import type { Db, Schema } from './schema.ts'

export interface OpenDatabase {
  db: Db
  url: string
  /** description of the database */
  describe: string
  close: () => Promise<void>
}

export interface OpenOptions {
  applicationName: string
  log: TextLog
  /** maximum connections */
  max?: number
  /** true: the embedded server must be started by this process; false: a running one is used */
  own: boolean
}

/** Commands may wait longer than requests, so they survive a longer pause of the database. */
const COMMAND_PATIENCE_MS = 15_000
/** Connections of the embedded server for the operator process, imports and commands, in addition to those of the public processes. */
const BASE_CONNECTIONS = 80

/**
 * Opens the database of the settings, and starts the embedded server if `own` is set; `close` ends both.
 * @throws Error that says what to do if it cannot be reached or started
 */
export async function openDatabase(config: Config, { applicationName, log, max = 20, own }: OpenOptions): Promise<OpenDatabase> {
  const connect = (url: string) => openPool<Schema>({ url, max, applicationName, ...(!own && { patienceMs: COMMAND_PATIENCE_MS }) })
  if (config.databaseUrl) {
    if (own) warnOfWaivedTls(config, log)
    const db = connect(config.databaseUrl)
    return { db, url: config.databaseUrl, describe: 'PostgreSQL at DATABASE_URL', close: () => db.close() }
  }
  const running = own ? null : embeddedConnection(config.dataDir)
  if (running) {
    const db = connect(running)
    return { db, url: running, describe: 'the embedded PostgreSQL of the running mintmark', close: () => db.close() }
  }
  const claim = claimDataDir(config.dataDir)
  try {
    const server = await startEmbedded({ dataDir: config.dataDir, log, connections: BASE_CONNECTIONS + config.apiProcesses * max })
    const db = connect(server.url)
    const close = async () => {
      await db.close()
      await server.stop()
      claim.release()
    }
    return { db, url: server.url, describe: server.describe, close }
  } catch (error) {
    claim.release()
    throw error
  }
}

const WAIVED = { encryption: 'is not encrypted', verification: "is encrypted without verifying the server's certificate" }

function warnOfWaivedTls(config: Config, log: TextLog): void {
  const { databaseUrl: DATABASE_URL, databaseListenUrl: DATABASE_LISTEN_URL, databaseReplicaUrl: DATABASE_REPLICA_URL } = config
  for (const [name, url] of Object.entries({ DATABASE_URL, DATABASE_LISTEN_URL, DATABASE_REPLICA_URL })) {
    const waived = url === null ? null : readDatabaseAddress(url).waived
    if (waived !== null) log.warn(`The connection of ${name} leaves this machine and ${WAIVED[waived]}, as its parameters say`)
  }
}
