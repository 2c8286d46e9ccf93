// Opening of the database by the settings: the one that is named, the embedded one that runs already, or one started now.
import type { Config } from '#config.ts'
import type { TextLog } from '#core/context.ts'
import { claimDataDir } from './data-dir.ts'
import { embeddedConnection, startEmbedded } from './embedded.ts'
import { openPool } from './pool.ts'
import type { Db, Schema } from './schema.ts'

export interface OpenDatabase {
  db: Db
  url: string
  /** what the database is, in words */
  describe: string
  close: () => Promise<void>
}

export interface OpenOptions {
  applicationName: string
  log: TextLog
  /** most connections */
  max?: number
  /** true: the embedded server must be ours alone; false: one that another process runs is used */
  own: boolean
}

/** Nobody waits for an answer of a command; it rather outlasts a pause of the database. */
const COMMAND_PATIENCE_MS = 15_000
/** Of the embedded server, beside those of the processes that serve the public listener: for the operator's, for imports and commands. */
const LEAST_CONNECTIONS = 80

/**
 * Opens the database of the settings, and starts the embedded server where `own` asks for it; `close` ends both.
 * @throws Error that says what to do when it cannot be reached or started
 */
export async function openDatabase(config: Config, { applicationName, log, max = 20, own }: OpenOptions): Promise<OpenDatabase> {
  const connect = (url: string) => openPool<Schema>({ url, max, applicationName, ...(!own && { patienceMs: COMMAND_PATIENCE_MS }) })
  if (config.databaseUrl) {
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
    const server = await startEmbedded({ dataDir: config.dataDir, log, connections: LEAST_CONNECTIONS + config.apiProcesses * max })
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
