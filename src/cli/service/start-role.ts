// Starts a role of the service on an open database: its schema, the demo or the first credentials, its processes or listeners; and prints where they are.
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { sql } from 'kysely'
import type { Logger } from 'pino'
import { freeStartMemory } from '#core/process/free-start-memory.ts'
import { machineNow } from '#core/process/time-and-chance.ts'
import { createOperatorToken } from '#accounts/keys/operator-tokens.ts'
import { makeOwnerLink } from '#accounts/people/make-owner-link.ts'
import type { Log } from '#core/context.ts'
import { ServiceError } from '#core/errors.ts'
import { PLAN_NAMES, PLANS } from '#core/plans.ts'
import { call } from '#core/verb.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import { runExclusively } from '#db/emptiness.ts'
import { migrate } from '#db/migrate.ts'
import type { OpenDatabase } from '#db/open.ts'
import type { Db } from '#db/schema.ts'
import { secretKeyOf } from '#db/secret-key.ts'
import { loadListeners, type RunningNode, startNode } from '#node/start.ts'
import type { Config } from '../../config.ts'
import { prepareDemo } from '../demo/demo.ts'
import { type DemoAccess, NoDemoError } from '../demo/make-demo.ts'
import type { ProcessPart } from '../terminal/messages.ts'
import { type Supervisor, supervise } from './supervisor.ts'

export interface Role {
  name: string
  description: string
  listeners: { public: boolean; operator: boolean }
  worker: boolean
  needsDatabaseUrl: boolean
}

export type StartedRole = RunningNode | Supervisor

export interface RoleOptions {
  config: Config
  database: OpenDatabase
  log: Logger
}

/** Loads what the role's listeners need, unless other processes have them. */
export function loadModules(role: Role, config: Config): void {
  if (!isSupervised(role, config)) loadListeners(role.listeners)
}

/** Starts everything; the caller closes it, and the database. */
export async function startRole(role: Role, { config, database, log }: RoleOptions): Promise<StartedRole> {
  const applied = await migrate(database.db)
  if (applied.length > 0) log.info({ migrations: applied.length, last: applied.at(-1) }, 'Database schema updated')
  const ctx = firstStartCtx(database.db)
  const access = role.name === 'serve' ? await loadDemo(ctx, config, log) : null
  const firstToken = role.listeners.operator && !access ? await makeFirstToken(ctx, config) : null
  const demoKey = access?.keys.professional ?? null
  const node = isSupervised(role, config)
    ? await superviseRole(role, { config, database, log, demoKey })
    : await startNode({ config, db: database.db, log: log as Log, listeners: role.listeners, worker: role.worker, demoKey })
  try {
    const ownerLink = role.listeners.operator && !access ? await makeFirstLink(ctx, config) : null
    freeStartMemory()
    greet(node, database.describe, { access, firstToken, ownerLink }, role.listeners.operator ? await nextSteps(database.db, config) : [])
    return node
  } catch (error) {
    await node.close()
    throw error
  }
}

function isSupervised({ listeners }: Role, { apiProcesses }: Config): boolean {
  return listeners.public && apiProcesses > 1
}

/** Runs the public listener in several processes, and the rest of the role in one additional process. */
async function superviseRole(
  { listeners, worker }: Role,
  { config, database, log, demoKey }: { config: Config; database: OpenDatabase; log: Logger; demoKey: string | null },
): Promise<Supervisor> {
  const serving = Array.from(
    { length: config.apiProcesses },
    (_, i): ProcessPart => ({
      name: String(i + 1),
      listeners: { public: true, operator: false },
      worker: false,
    }),
  )
  const others: ProcessPart[] =
    listeners.operator || worker ? [{ name: 'operator', listeners: { public: false, operator: listeners.operator }, worker }] : []
  // Generated here, or each process would generate its own.
  secretKeyOf(config, log as Log)()
  // If both listeners used port 0, the system could assign one port to both.
  const operatorPort = config.operatorPort || (await freePort(config.operatorHost))
  return supervise({ parts: [...serving, ...others], shared: { databaseUrl: database.url, operatorPort, demoKey }, log: log as Log })
}

async function freePort(host: string): Promise<number> {
  const probe = createServer().listen(0, host)
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

function firstStartCtx(db: Db): WriteCtx {
  return {
    db,
    viewer: { kind: 'operator', name: 'first start' },
    now: machineNow,
    requestId: null,
    idempotency: null,
    caughtUp: async () => {},
  }
}

/** Loads the demo if the settings allow it and the database is empty; otherwise the log says why not. */
async function loadDemo(ctx: WriteCtx, config: Config, log: Logger): Promise<DemoAccess | null> {
  try {
    if (config.demo) return await prepareDemo(ctx, config)
    if (config.demoRefusal) log.info({}, `Demo not loaded: ${config.demoRefusal}`)
  } catch (error) {
    if (!(error instanceof NoDemoError)) throw error
    log.info({}, `Demo not loaded: ${error.message}`)
  }
  return null
}

/**
 * Creates the first operator token if there is none yet; it is shown only once. In production the journal would store
 * it, so there it is created only on a terminal.
 */
async function makeFirstToken(ctx: WriteCtx, config: Config): Promise<string | null> {
  if (config.operatorToken !== null || (config.production && !process.stdout.isTTY)) return null
  return runExclusively(ctx.db, async () => {
    const existing = await ctx.db.kysely.selectFrom('operator_tokens').select('id').limit(1).executeTakeFirst()
    return existing ? null : (await call(createOperatorToken, ctx, { label: 'first start' })).token
  })
}

/** A one-time link for the first owner, as a path of the console; new at each start until there is an owner. In production only on a terminal. */
async function makeFirstLink(ctx: WriteCtx, config: Config): Promise<string | null> {
  if (config.production && !process.stdout.isTTY) return null
  try {
    return (await call(makeOwnerLink, ctx, {})).link_path
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'CONFLICT') return null
    throw error
  }
}

/** Next steps, as long as the service lacks something it needs to be useful. */
async function nextSteps({ kysely }: Db, { operatorToken }: Config): Promise<string[]> {
  const { rows } = await sql<{ items: boolean; accounts: boolean; tokens: boolean; people: boolean }>`
    select exists (select from items) as items, exists (select from accounts) as accounts,
      exists (select from operator_tokens) as tokens, exists (select from people where removed_at is null) as people`.execute(kysely)
  const { items, accounts, tokens, people } = rows[0]!
  return [
    ...(people || tokens || operatorToken ? [] : ['npx mintmark people owner-link                    # sign in to the console by name']),
    ...(tokens || operatorToken ? [] : ['npx mintmark operator-token create --label me    # sign in to the console']),
    ...(items ? [] : ['npx mintmark import --help                        # import a catalogue and its prices']),
    ...(accounts
      ? []
      : [
          'npx mintmark account create --name Shop --plan professional',
          'npx mintmark key create --account 1               # use the id printed by account create',
        ]),
  ]
}

interface FirstCredentials {
  access: DemoAccess | null
  firstToken: string | null
  /** path of the console */
  ownerLink: string | null
}

/** Prints the start banner: addresses; in the demo also its keys and a first request, otherwise the next steps. */
function greet(
  node: Pick<RunningNode, 'publicUrl' | 'operatorUrl'>,
  database: string,
  { access, firstToken, ownerLink }: FirstCredentials,
  next: string[],
): void {
  const lines = ['', `Mintmark is running on ${database}.`, '']
  if (node.publicUrl) {
    lines.push(
      `  Start here ${node.publicUrl}/`,
      `  REST       ${node.publicUrl}/api/v1/items`,
      `  GraphQL    ${node.publicUrl}/graphql`,
      `  Reference  ${node.publicUrl}/docs`,
      `  Desk       ${node.publicUrl}/desk (for sellers; sign in with a Plus key)`,
    )
  }
  if (node.operatorUrl) {
    lines.push(`  Console    ${node.operatorUrl}/console`, `  Operator   ${node.operatorUrl}/operator/v1 (reference: ${node.operatorUrl}/docs)`)
  }
  if (access) {
    lines.push('', 'This is a demo with a sample catalogue and made-up prices. To start without it, set MINTMARK_DEMO=0.', '')
    for (const plan of PLANS) lines.push(`  ${`${PLAN_NAMES[plan]} key`.padEnd(18)} ${access.keys[plan]}`)
    lines.push(`  ${'Operator token'.padEnd(18)} ${access.operatorToken}`)
    if (node.publicUrl) {
      const url = `${node.publicUrl}/api/v1/items/search?q=charizard`
      lines.push(
        '',
        'Next, send a request, or sign in to the console with the operator token:',
        '',
        `  curl -H 'Authorization: Bearer ${access.keys.professional}' '${url}'`,
      )
    }
  }
  if (ownerLink)
    lines.push(
      '',
      'Open this link to become the owner of this service. It works once, for 24 hours:',
      '',
      `  ${node.operatorUrl}${ownerLink}`,
      '',
      'The console then guides you through the setup.',
    )
  if (firstToken)
    lines.push(
      '',
      `  Operator token     ${firstToken}`,
      '',
      'This operator token is shown only once. Store it for programs, or to sign in to the console without a name.',
    )
  if (next.length > 0) lines.push('', 'Next:', '', ...next.map((step) => `  ${step}`))
  lines.push('', 'Press Ctrl-C to stop.', '')
  process.stdout.write(`${lines.join('\n')}\n`)
}
