// The commands that run the service: `serve` (everything in one process), and `api`, `operator` and `work` (one role each). With
// API_PROCESSES the first two run a supervisor and its processes.
import cluster from 'node:cluster'
import type { Command } from 'commander'
import { startInterval, stopTimer } from '#core/process/time-and-chance.ts'
import { openDatabase } from '#db/open.ts'
import { type Config, readConfig } from '../../config.ts'
import { ConfigError } from '#settings.ts'
import { openLog, textLog } from '../terminal/log.ts'
import type { Role, StartedRole } from './start-role.ts'

const ROLES: readonly Role[] = [
  {
    name: 'serve',
    description: 'run everything in one process (default)',
    listeners: { public: true, operator: true },
    worker: true,
    needsDatabaseUrl: false,
  },
  { name: 'api', description: 'run the public API only', listeners: { public: true, operator: false }, worker: false, needsDatabaseUrl: true },
  {
    name: 'operator',
    description: "run the operator's API only",
    listeners: { public: false, operator: true },
    worker: false,
    needsDatabaseUrl: true,
  },
  {
    name: 'work',
    description: 'run the worker only (webhooks, publication periods)',
    listeners: { public: false, operator: false },
    worker: true,
    needsDatabaseUrl: true,
  },
]

export function register(program: Command): void {
  for (const role of ROLES) {
    program
      .command(role.name)
      .description(role.description)
      .action(() => run(role))
  }
}

/** Runs until a signal; resolves when everything is closed. */
async function run(role: Role): Promise<void> {
  const config = readConfig()
  if (role.needsDatabaseUrl && !config.databaseUrl) throw new ConfigError(`mintmark ${role.name} needs DATABASE_URL`)
  const log = await openLog(config.logLevel)
  if (cluster.isWorker) return (await import('./process.ts')).runProcess(config, log)
  const stopped = signalled()
  const opening = openDatabase(config, { applicationName: `mintmark ${role.name}`, log: textLog(log), own: true })
  const loading = loadProgram(role, config)
  // If the database cannot be opened, either, that is the error to report.
  loading.catch(() => {})
  const database = await opening
  let node: StartedRole | null = null
  process.on('SIGUSR2', () => {
    if (node && 'restart' in node) void node.restart()
    else log.warn({}, 'SIGUSR2 ignored: it restarts several processes, but API_PROCESSES is 1 or the start is not complete')
  })
  // A worker has no listener: while its database is unreachable, nothing else would keep the process alive.
  const alive = startInterval(() => {}, 60_000)
  try {
    const startRole = await loading
    node = await startRole(role, { config, database, log })
    const signal = await stopped
    log.info({}, 'Stopping')
    // Ctrl-C stops immediately; a service manager replaces a node that has callers.
    if (signal === 'SIGTERM') await node.drain()
  } finally {
    stopTimer(alive)
    await node?.close()
    await database.close()
  }
}

/**
 * Loads most of the program while PostgreSQL starts in a process of its own, which has been created in the next turn of the event loop.
 * @returns what starts the role
 */
async function loadProgram(role: Role, config: Config) {
  await new Promise(setImmediate)
  const { loadModules, startRole } = await import('./start-role.ts')
  loadModules(role, config)
  return startRole
}

/** Resolves at the first SIGINT or SIGTERM; a second signal ends the process immediately. */
function signalled(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let count = 0
    const stop = (signal: NodeJS.Signals) => {
      count += 1
      if (count > 1) process.exit(1)
      resolve(signal)
    }
    process.on('SIGINT', stop)
    process.on('SIGTERM', stop)
  })
}
