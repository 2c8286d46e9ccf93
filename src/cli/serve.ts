// The commands that run the service: `serve` (everything in one process), and `api`, `operator` and `work` (one role each).
import type { Command } from 'commander'
import { type Logger, pino } from 'pino'
import type { Log } from '#core/context.ts'
import { PLAN_NAMES, PLANS } from '#core/plans.ts'
import { migrate } from '#db/migrate.ts'
import { openDatabase } from '#db/open.ts'
import { type Config, ConfigError, readConfig } from '../config.ts'
import { type RunningNode, startNode } from '../node.ts'
import { type DemoAccess, prepareDemo } from './demo.ts'

interface Role {
  name: string
  description: string
  listeners: { public: boolean; operator: boolean }
  worker: boolean
  needsDatabaseUrl: boolean
}

const ROLES: readonly Role[] = [
  {
    name: 'serve',
    description: 'run everything in one process (the default)',
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
    description: 'run the worker only: it delivers webhooks',
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
  const log = pino({ level: config.logLevel, name: 'mintmark' }, pino.destination({ dest: 2, sync: false }))
  const stopped = signalled()
  const database = await openDatabase(config, { applicationName: `mintmark ${role.name}`, log: embeddedLog(log), own: true })
  let node: RunningNode | null = null
  // A worker listens nowhere: while its database is gone nothing else would keep the process, and it would end.
  const alive = setInterval(() => {}, 60_000)
  try {
    const applied = await migrate(database.db)
    if (applied.length > 0) log.info({ migrations: applied }, 'The database was brought up to date')
    const access = config.demo ? await makeDemo(config, database.db) : null
    node = await startNode({ config, db: database.db, log: log as Log, listeners: role.listeners, worker: role.worker, demoKey: access?.keys.professional ?? null })
    greet(node, database.describe, access)
    const signal = await stopped
    log.info({}, 'Stopping')
    // Who presses Ctrl-C wants it to end; a service manager replaces a node that has callers.
    if (signal === 'SIGTERM') await node.drain()
  } finally {
    clearInterval(alive)
    await node?.close()
    await database.close()
  }
}

async function makeDemo(config: Config, db: Parameters<typeof startNode>[0]['db']): Promise<DemoAccess | null> {
  const ctx = {
    db,
    viewer: { kind: 'operator' as const, name: 'demo' },
    now: () => new Date(),
    requestId: null,
    idempotency: null,
    caughtUp: async () => {},
  }
  return prepareDemo(ctx, config)
}

/** What a person sees at start: addresses, and in the demo keys and a request to paste. */
function greet(node: RunningNode, database: string, access: DemoAccess | null): void {
  const lines = ['', `Mintmark is running on ${database}.`, '']
  if (node.publicUrl) {
    lines.push(`  Start here ${node.publicUrl}/`, `  REST       ${node.publicUrl}/api/v1/items`, `  GraphQL    ${node.publicUrl}/graphql`, `  Reference  ${node.publicUrl}/docs`)
  }
  if (node.operatorUrl) {
    lines.push(`  Console    ${node.operatorUrl}/console`, `  Operator   ${node.operatorUrl}/operator/v1 (reference: ${node.operatorUrl}/docs)`)
  }
  if (access) {
    lines.push('', 'This is a demo with a sample catalogue; its prices are made up. MINTMARK_DEMO=0 starts without it.', '')
    for (const plan of PLANS) lines.push(`  ${`${PLAN_NAMES[plan]} key`.padEnd(18)} ${access.keys[plan]}`)
    lines.push(`  ${'Operator token'.padEnd(18)} ${access.operatorToken}`)
    if (node.publicUrl) {
      const url = `${node.publicUrl}/api/v1/items/search?q=charizard`
      lines.push('', 'Try it:', '', `  curl -H 'Authorization: Bearer ${access.keys.professional}' '${url}'`)
    }
  }
  lines.push('', 'Ctrl-C stops it.', '')
  process.stdout.write(`${lines.join('\n')}\n`)
}

/** Resolves at the first SIGINT or SIGTERM; a second one ends the process at once. */
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

function embeddedLog(log: Logger): { info(message: string): void; warn(message: string): void } {
  return { info: (message) => log.info(message), warn: (message) => log.warn(message) }
}
