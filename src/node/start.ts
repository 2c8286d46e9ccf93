// Starts a node: loads its data, opens the listeners of its role, and schedules its tasks.
import { machineMs } from '#core/process/time-and-chance.ts'
import { checkPeopleSealing } from '#accounts/people/authenticator-codes.ts'
import type { Keyring } from '#accounts/keys/keyring.ts'
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import type { Log } from '#core/context.ts'
import type { Viewer } from '#core/verb.ts'
import { CHANGES_CHANNEL } from '#db/changes/change-feed.ts'
import type { LongPolls } from '#db/changes/long-polls.ts'
import { openPool } from '#db/connection/pool.ts'
import { readFromReplica } from '#db/replica.ts'
import type { Db } from '#db/schema.ts'
import { checkDumpStore } from '#dumps/open-store.ts'
import { type Heartbeat, workerHeartbeat } from '#jobs/heartbeat.ts'
import type { ImageProxy } from '#images/image-proxy.ts'
import { Notices } from '#jobs/notices.ts'
import type { TaskRecord } from '#jobs/scheduler.ts'
import type { ListingSnapshot } from '#market/snapshot/listings.ts'
import type { MarketSettings } from '#market/marketplace-types.ts'
import type { Sandboxes } from '#sandbox/sandboxes.ts'
import { testKeys } from '#sandbox/test-keys.ts'
import type { Sender } from '#webhooks/delivery/sender.ts'
import { EVENTS_CHANNEL } from '#webhooks/event-positions.ts'
import { checkSealing } from '#webhooks/rules.ts'
import type { Config } from '../config.ts'
import type { NodeCtx } from './context.ts'
import { applyStored, liveConfig } from '#live-settings/live-config.ts'
import { Listeners } from './listeners.ts'
import { createParts, type NodeParts } from './parts.ts'
import { openSandboxes, scheduleSandboxRemoval } from './sandboxes.ts'
import { scheduleHousekeeping, scheduleOwnTasks, scheduleStartFile, scheduleWork } from './tasks.ts'

export interface NodeOptions {
  config: Config
  db: Db
  log: Log
  /** the current time; default: the database's clock */
  now?: () => Date
  /** numbers from 0 to 1 for what clients can see of chance, such as the times of retries; default: those of the process */
  random?: () => number
  listeners: { public: boolean; operator: boolean }
  /** whether it runs the service's background work, such as webhook deliveries and listing expiry */
  worker: boolean
  /** key of the demo, shown on the developer page */
  demoKey?: string | null
  /** set if the service runs several processes */
  process?: ServiceProcess
}

/** Data about the service that this process belongs to. */
export interface ServiceProcess {
  /** name in metrics */
  name: string
  /** metrics of the other processes, one text each */
  otherMetrics: () => Promise<string[]>
}

export interface RunningNode {
  publicUrl: string | null
  operatorUrl: string | null
  /** of the listener for metrics */
  metricsUrl: string | null
  catalogue: Catalogue
  listings: ListingSnapshot
  polls: LongPolls
  market: MarketSettings
  /** a context for calling verbs as this viewer */
  ctx: (viewer: Viewer) => NodeCtx
  /** metrics of this process, as text */
  metrics: () => Promise<string>
  /** the result of the last run of each periodic task */
  tasks: () => readonly TaskRecord[]
  /** runs a periodic task now instead of at its next time */
  runTask: (name: string) => Promise<void>
  /**
   * Moves clients to other nodes before `close`: readiness fails, and each connection closes after its next response. Takes at most
   * 4 s. If another process on the same port has `replaced` this one, readiness stays up and requests in progress get a minute.
   */
  drain: (how?: { replaced: boolean }) => Promise<void>
  close: () => Promise<void>
}

/** Nodes of one machine may stop together, and one file is enough. Writes no longer wait at stop, but the process that stops the node does. */
const AT_STOP = { unlessWithinMs: 10_000, maxLockedMs: 4_000 } as const
/** After this time without a response from the database, a node is not ready. */
const STALE_MS = 3_000

type ServedNode = NodeParts & { images: ImageProxy | null; sandboxes: Sandboxes }

/** How far a node is in its life. */
interface Progress {
  started: boolean
  draining: boolean
}

/** Loads the modules of these listeners while the caller waits for the database, because loading modules takes half of the start. */
export function loadListeners({ public: isPublic, operator }: NodeOptions['listeners']): void {
  if (isPublic) void import('../public.ts')
  if (operator) void import('../operator/server.ts')
}

/** Starts a node on a migrated database; its data is loaded before its listeners open. */
export async function startNode(options: NodeOptions): Promise<RunningNode> {
  const { db, log, listeners: roles, worker } = options
  const listeners = new Listeners()
  const progress: Progress = { started: false, draining: false }
  let publicUrl: string | null = null
  const config = liveConfig(options.config)
  await applyStored(config, db.kysely, log)
  const node = createParts({ config, db, log, now: options.now, random: options.random, ports: () => listeners.ports(), publicUrl: () => publicUrl })
  const { catalogue, listings, polls, market, scheduler } = node
  await Promise.all([checkSealing(db, node.webhooks.sealing), checkPeopleSealing(db, node.peopleSealing)])
  loadListeners(roles)
  await load(node)
  const { notices, closeNotices } = openNotices(node, roles)
  scheduleOwnTasks(node, roles)
  const images = roles.public && config.imageProxy ? await node.openImages() : null
  const sandboxes = openSandboxes(
    node,
    () => listeners.ports(),
    () => publicUrl,
  )
  const served = { ...node, images, sandboxes }
  const metrics = metricsOf(served, options)
  const stopping = new AbortController()
  let sender: Sender | null = null
  let heartbeat: Heartbeat | null = null
  const drain = async ({ replaced } = { replaced: false }) => {
    progress.draining = !replaced
    polls.close()
    await listeners.drain(replaced)
  }
  const close = async () => {
    stopping.abort()
    polls.close()
    await Promise.all([listeners.close(), sender?.close()])
    await sandboxes.close()
    await scheduler.stop()
    await Promise.all([node.dumps.close(), node.fetches.close()])
    await closeNotices()
    await heartbeat?.leave()
    if (progress.started) await node.startFile?.write(AT_STOP).catch((error: unknown) => log.warn({ err: error }, 'Failed to write the start file'))
    await node.closeImages()
    await node.feed.close()
    await Promise.all([
      node.views.flush().catch(() => {}),
      node.searches.flush().catch(() => {}),
      ...[node.keys, node.operators, node.consoleSessions, node.sellerSessions].map(closeQuietly),
    ])
  }
  try {
    publicUrl = roles.public ? await openPublic(served, options, listeners, progress) : null
    const operatorUrl = roles.operator ? await openOperator(served, listeners, metrics.ofService) : null
    const metricsUrl = config.metricsPort === null ? null : await openMetrics(node, listeners, metrics.ofService)
    const bare = { db, now: node.now, requestId: null, idempotency: null, precondition: null, market, rules: config.priceRules, config }
    const ctx = (viewer: Viewer): NodeCtx => ({ ...bare, caughtUp: () => node.feed.pull(), viewer })
    if (worker) {
      sender = await openSender(node, notices)
      heartbeat = workerHeartbeat(db)
      scheduleWork(node, ctx({ kind: 'operator', name: 'worker' }), heartbeat, stopping.signal)
    }
    scheduleStartFile(node)
    scheduleHousekeeping(node)
    scheduleSandboxRemoval(node, sandboxes)
    progress.started = true
    const tasks = { tasks: () => scheduler.tasks(), runTask: (name: string) => scheduler.runNow(name) }
    return { publicUrl, operatorUrl, metricsUrl, catalogue, listings, polls, market, ctx, metrics: metrics.ofProcess, ...tasks, drain, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Loads the data in memory: from the start file, otherwise from the replica or the primary. */
async function load({ config, db, log, feed, catalogue, listings, dumpStore, startFile }: NodeParts): Promise<void> {
  const loadFrom = async (from: Db): Promise<void> => {
    try {
      await feed.open(from)
      await catalogue.load(from)
      await listings.load(from)
    } catch (error) {
      if (from === db) throw error
      log.warn({ err: error }, 'Failed to load from the replica; loading from the primary')
      await loadFrom(db)
    }
  }
  const loadAll = async () => {
    if (!(await startFile?.read())) await readFromReplica({ replicaUrl: config.databaseReplicaUrl, primary: db, log }, loadFrom)
  }
  await Promise.all([loadAll(), checkDumpStore(dumpStore, log)])
  await feed.pull()
}

/** Follows the notices of commits. */
function openNotices({ config, db, feed, events }: NodeParts, roles: NodeOptions['listeners']) {
  const { databaseListenUrl } = config
  const listenDb = databaseListenUrl === null ? null : openPool({ url: databaseListenUrl, max: 1, applicationName: 'mintmark notices' })
  const notices = new Notices(listenDb ?? db)
  notices.follow(CHANGES_CHANNEL, () => feed.noticed())
  if (roles.public) notices.follow(EVENTS_CHANNEL, (accountId) => events.wake(Number(accountId)))
  const closeNotices = async () => {
    notices.close()
    await listenDb?.close()
  }
  return { notices, closeNotices }
}

/** Metrics of this process, and of all processes of the service, as text. */
function metricsOf(node: ServedNode, { process: part }: NodeOptions) {
  let own: Promise<() => Promise<string>> | null = null
  const ofProcess = async () =>
    (await (own ??= import('../operator/metrics.ts').then(({ openProcessMetrics }) => openProcessMetrics(node, part?.name ?? null))))()
  return { ofProcess, ofService: async () => [await ofProcess(), ...((await part?.otherMetrics()) ?? [])] }
}

async function openPublic(node: ServedNode, { demoKey = null }: NodeOptions, listeners: Listeners, progress: Progress): Promise<string> {
  const { config, feed } = node
  const notReady = () => {
    if (!progress.started) return 'starting'
    if (progress.draining) return 'stopping'
    return machineMs() - feed.lastPullMs > STALE_MS ? 'disconnected from its database' : null
  }
  const { publicServer } = await import('../public.ts')
  return listeners.open(
    await publicServer({ ...node, notReady, demoKey, testKeys: testKeys(node.sandboxes, node.keys.failures), livemode: true, world: () => null }),
    config.host,
    config.port,
    'PORT',
  )
}

async function openOperator(node: ServedNode, listeners: Listeners, processMetrics: () => Promise<string[]>): Promise<string> {
  const { operatorHost, operatorPort } = node.config
  const { operatorServer } = await import('../operator/server.ts')
  return listeners.open(await operatorServer({ ...node, processMetrics }), operatorHost, operatorPort, 'OPERATOR_PORT')
}

async function openMetrics(node: NodeParts, listeners: Listeners, processMetrics: () => Promise<string[]>): Promise<string> {
  const { config, log, operators } = node
  const { metricsServer } = await import('../operator/metrics-server.ts')
  return listeners.open(await metricsServer({ config, log, operators, processMetrics }), config.metricsHost, config.metricsPort!, 'METRICS_PORT')
}

async function openSender({ config, db, log, now, random, scheduler, webhooks }: NodeParts, notices: Notices): Promise<Sender> {
  const { startSender } = await import('#webhooks/delivery/sender.ts')
  const delivering = { network: webhooks, sealing: webhooks.sealing, retryDelaysMs: config.webhookRetryDelaysMs }
  return startSender({ db, log, scheduler, notices, now, random, ...delivering, alone: config.alone })
}

async function closeQuietly(keyring: Keyring): Promise<void> {
  // If the database is already gone, only the times of last use are lost.
  await keyring.close().catch(() => {})
}
