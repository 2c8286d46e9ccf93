// One running node: database, change feed, keys, the catalogue in memory and the listeners of its role.
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { FastifyInstance } from 'fastify'
import { HOUR_MS, MINUTE_MS } from '#core/duration.ts'
import { apiKeyring, consoleSessions, type Keyring, operatorTokens, sellerSessions } from '#accounts/keys/keyring.ts'
import { RateLimits, type LimitStore } from '#accounts/limits/rate-limits.ts'
import { forgetOldUsage } from '#accounts/keys/usage.ts'
import { archiveOldAudit, forgetOldAudit } from '#audit/archive/archive-audit.ts'
import { type AuditArchive, openAuditArchive } from '#audit/archive/open-audit-archive.ts'
import { imageAddresses } from '#catalogue/records/image-addresses.ts'
import type { ImageProxy } from '#images/image-proxy.ts'
import { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { checkPeopleSealing } from '#accounts/people/codes.ts'
import { recordWorth } from '#collections/record-worth.ts'
import type { Log } from '#core/context.ts'
import { openSealing } from '#core/sealing.ts'
import type { Viewer } from '#core/verb.ts'
import { mayArchive } from '#db/archiving.ts'
import { ChangeFeed, CHANGES_CHANNEL, trimChangeLog } from '#db/changes/change-feed.ts'
import { forgetOldIdempotencyKeys } from '#db/changes/idempotency.ts'
import { LongPolls } from '#db/changes/long-polls.ts'
import { openPool } from '#db/connection/pool.ts'
import { readFromReplica } from '#db/replica.ts'
import { secretKeyOf } from '#db/secret-key.ts'
import type { Db } from '#db/schema.ts'
import { DumpMaker } from '#dumps/maker.ts'
import { checkDumpStore, openDumpStore } from '#dumps/open-store.ts'
import { type Heartbeat, workerHeartbeat } from '#jobs/heartbeat.ts'
import { Notices } from '#jobs/notices.ts'
import { Scheduler, type TaskRecord } from '#jobs/scheduler.ts'
import { judgeWaiting } from '#market/approval/judge.ts'
import { expireListings } from '#market/listings/expire-listings.ts'
import { runDueRules } from '#market/repricing/run-due-rules.ts'
import { forgetOldListingImports } from '#market/intake/import-store.ts'
import { forgetOldPriceJobs } from '#market/jobs/store.ts'
import { ListingSnapshot } from '#market/snapshot/listings.ts'
import type { MarketSettings, MarketWriteCtx } from '#market/types.ts'
import { RequestCounts } from '#http/request-counts.ts'
import { endIdle, stopListening } from '#http/stop-listening.ts'
import { archiveOldMonths } from '#prices/archive/archive-months.ts'
import { openPriceArchive } from '#prices/archive/open-archive.ts'
import type { HistoryCtx } from '#prices/history/history.ts'
import { prepareMonths } from '#prices/records/months.ts'
import { judgeAllPrices } from '#prices/reviews/judge-all.ts'
import { rankReviews } from '#prices/reviews/reviews.ts'
import { failBrokenImports } from '#prices/imports/imports.ts'
import { forgetOldPrices, forgetOldStatements } from '#prices/history/retention.ts'
import type { PriceWriteCtx } from '#prices/records/types.ts'
import { recordDay } from '#stats/day-counts.ts'
import { EventFeed } from '#webhooks/event-feed.ts'
import { EVENTS_CHANNEL } from '#webhooks/event-positions.ts'
import { forgetOldEvents } from '#webhooks/retention.ts'
import { checkSealing, guardOf, webhookRules } from '#webhooks/rules.ts'
import type { Sender } from '#webhooks/delivery/sender.ts'
import type { Network } from '#outbound/dial.ts'
import type { Config } from './config.ts'
import { StartFile } from './start-file.ts'

export interface NodeOptions {
  config: Config
  db: Db
  log: Log
  /** the current time; default: the database's clock */
  now?: () => Date
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

/** The context that writing verbs of every module need. */
export type NodeCtx = MarketWriteCtx & PriceWriteCtx

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

const EVERY = {
  pull: 400,
  ratesOfTheDay: 1_000,
  eventFeed: 1_000,
  expiry: 5_000,
  approvalRules: 1_000,
  repricing: MINUTE_MS,
  collectionWorth: 10 * MINUTE_MS,
  brokenImports: 10_000,
  heartbeat: 15_000,
  keyUses: 10_000,
  priceEvidence: HOUR_MS,
  priceReviews: 5_000,
  dumps: MINUTE_MS,
  dayCounts: HOUR_MS,
  archives: HOUR_MS,
  housekeeping: 10 * MINUTE_MS,
} as const
/** Writes wait while the start file is written, and the node must not become stale (`STALE_MS`): a slower disk gets its file only at stop. */
const MAX_LOCKED_MS = 2_000
/** Nodes of one machine may stop together, and one file is enough. Writes no longer wait at stop, but the process that stops the node does. */
const AT_STOP = { unlessWithinMs: 10_000, maxLockedMs: 4_000 } as const
/** How long requests in progress may take to end when the node stops. */
const CLOSE_MS = 5_000
/** How long clients with open connections, and proxies that poll readiness, have to switch to another node. */
const DRAIN_MS = 3_000
/** How long connections whose request is in transit are still served after the listener has stopped accepting new ones. */
const LINGER_MS = 500
/** The same if another process has taken over: it already serves new connections, so this one can take its time. */
const REPLACED_MS = MINUTE_MS
const DRAIN_POLL_MS = 50
/** After this time without a response from the database, a node is not ready. */
const STALE_MS = 3_000

/** Starts a node on a migrated database; its data is loaded before its listeners open. */
export async function startNode({
  config,
  db,
  log,
  now: given,
  listeners,
  worker,
  demoKey = null,
  process: part,
}: NodeOptions): Promise<RunningNode> {
  const servers: FastifyInstance[] = []
  const listening = () => servers.flatMap((server) => server.addresses() as AddressInfo[]).map(({ port }) => port)
  const webhooks = webhookRules(config, db, log, listening)
  const imageNetwork: Network = { guard: guardOf(config, db, listening, config.imageAllowCidrs), resolve: webhooks.resolve }
  const peopleSealing = openSealing(secretKeyOf(config, log), 'mintmark totp secrets')
  await Promise.all([checkSealing(db, webhooks.sealing), checkPeopleSealing(db, peopleSealing)])
  const feed = new ChangeFeed(db, { warn: log.warn.bind(log), info: (message) => log.info({}, message) })
  const now = given ?? (() => feed.now())
  const keys = apiKeyring({ db, log, now })
  const operators = operatorTokens({ db, log, now }, config.operatorToken)
  const sessions = { console: consoleSessions({ db, log, now }, config.operatorToken), seller: sellerSessions({ db, log, now }) }
  const cachedRows = config.without.has('query-cache') ? 0 : undefined
  const readyOnce = config.without.has('ready-bytes')
  let publicUrl: string | null = null
  // Responses are built only after the public listener has opened.
  const addresses = imageAddresses(() => config.publicUrl ?? publicUrl ?? '', config.imageProxy)
  const catalogue = new Catalogue(db, { ...config, cachedRows, readyOnce, now, addresses })
  const market: MarketSettings = config
  const listings = new ListingSnapshot({ db, catalogue, now, timeZone: config.timeZone, readyBytesMb: config.readyBytesMb, readyOnce, cachedRows })
  const caughtUp = () => feed.pull()
  const polls = new LongPolls()
  const events = new EventFeed(db, polls)
  for (const follower of [keys, operators, sessions.console, sessions.seller, catalogue, listings, polls]) feed.add(follower)
  const load = async (from: Db): Promise<void> => {
    try {
      await feed.open(from)
      await catalogue.load(from)
      await listings.load(from)
    } catch (error) {
      if (from === db) throw error
      log.warn({ err: error }, 'Failed to load from the replica; loading from the primary')
      await load(db)
    }
  }
  // Loading modules takes half of the start: load only those of this role, and load them while the database responds.
  if (listeners.public) void import('./public.ts')
  const dumpStore = openDumpStore(config)
  const { dataDir, marketOrder, startFileMinutes } = config
  const startFile = startFileMinutes === 0 ? null : new StartFile({ dataDir, db, log, feed, catalogue, listings, settings: { marketOrder } })
  const loadAll = async () => {
    if (!(await startFile?.read())) await readFromReplica({ replicaUrl: config.databaseReplicaUrl, primary: db, log }, load)
  }
  await Promise.all([loadAll(), checkDumpStore(dumpStore, log)])
  await feed.pull()
  const scheduler = new Scheduler(log)
  const { databaseListenUrl } = config
  const listenDb = databaseListenUrl === null ? null : openPool({ url: databaseListenUrl, max: 1, applicationName: 'mintmark notices' })
  const notices = new Notices(listenDb ?? db)
  notices.follow(CHANGES_CHANNEL, () => feed.noticed())
  if (listeners.public) {
    notices.follow(EVENTS_CHANNEL, (accountId) => events.wake(Number(accountId)))
    scheduler.add({ name: 'event-feed', intervalMs: EVERY.eventFeed, run: async () => events.look() })
  }
  scheduler.add({ name: 'rates-of-the-day', intervalMs: EVERY.ratesOfTheDay, run: async () => catalogue.followClock() })
  // In case notifications do not arrive.
  scheduler.add({ name: 'change-feed', intervalMs: EVERY.pull, run: () => feed.pull() })
  for (const [name, keyring] of [
    ['api-key-uses', keys],
    ['operator-token-uses', operators],
    ['console-session-uses', sessions.console],
    ['seller-session-uses', sessions.seller],
  ] as const) {
    scheduler.add({ name, intervalMs: EVERY.keyUses, run: () => keyring.flush() })
  }
  // The console needs the proxy only once it shows a picture from elsewhere.
  let imageProxy: Promise<ImageProxy> | null = null
  const openImages = () =>
    (imageProxy ??= import('#images/image-proxy.ts')
      .then(({ openImageProxy }) => openImageProxy({ ...config, network: imageNetwork, log, now }))
      .catch((error: unknown) => {
        imageProxy = null
        throw error
      }))
  const images = listeners.public && config.imageProxy ? await openImages() : null
  const archive = openPriceArchive(config)
  const auditArchive = openAuditArchive(config)
  const dumps = new DumpMaker({ ...config, db, log, now, store: dumpStore, archive, currencies: config.sourceCurrencies })
  const shared = {
    config,
    db,
    log,
    scheduler,
    now,
    feed,
    polls,
    keys,
    operators,
    consoleSessions: sessions.console,
    sellerSessions: sessions.seller,
    catalogue,
    images,
    openImages,
    listings,
    market,
    webhooks,
    peopleSealing,
    events,
    limits: new RateLimits(config.rateLimits, sharedCounting(config, db, log)),
    requests: new RequestCounts(),
    dumps,
    archive,
    auditArchive,
  }
  let ownMetrics: Promise<() => Promise<string>> | null = null
  const metrics = async () =>
    (await (ownMetrics ??= import('./operator/metrics.ts').then(({ openProcessMetrics }) => openProcessMetrics(shared, part?.name ?? null))))()
  const processMetrics = async () => [await metrics(), ...((await part?.otherMetrics()) ?? [])]
  let started = false
  let draining = false
  const notReady = () => {
    if (!started) return 'starting'
    if (draining) return 'stopping'
    return Date.now() - feed.lastPullMs > STALE_MS ? 'disconnected from its database' : null
  }
  const drain = async ({ replaced } = { replaced: false }) => {
    draining = !replaced
    polls.close()
    // Close the public listener last: closing is faster after another listener has closed.
    const takeNoMore = async () => {
      for (const { server } of servers.toReversed()) await stopListening(server)
    }
    if (replaced) await takeNoMore()
    for (const { server } of servers) server.prependListener('request', (_request, response) => response.setHeader('connection', 'close'))
    await emptied(servers, DRAIN_MS)
    if (!replaced) await takeNoMore()
    await emptied(servers, LINGER_MS)
    const ends = Date.now() + (replaced ? REPLACED_MS : 0)
    do {
      for (const { server } of servers) await endIdle(server)
      await emptied(servers, Math.min(LINGER_MS, ends - Date.now()))
    } while (Date.now() < ends && (await connectionsOf(servers)) > 0)
  }
  const stopping = new AbortController()
  let sender: Sender | null = null
  let heartbeat: Heartbeat | null = null
  const close = async () => {
    stopping.abort()
    polls.close()
    await Promise.all([...servers.map(closeServer), sender?.close()])
    await scheduler.stop()
    await dumps.close()
    notices.close()
    await listenDb?.close()
    await heartbeat?.leave()
    if (started) await startFile?.write(AT_STOP).catch((error: unknown) => log.warn({ err: error }, 'Failed to write the start file'))
    await (await imageProxy)?.close()
    await feed.close()
    await Promise.all([closeQuietly(keys), closeQuietly(operators), closeQuietly(sessions.console), closeQuietly(sessions.seller)])
  }
  try {
    publicUrl = listeners.public
      ? await listen(servers, await (await import('./public.ts')).publicServer({ ...shared, notReady, demoKey }), config.host, config.port, 'PORT')
      : null
    const operatorUrl = listeners.operator
      ? await listen(
          servers,
          await (await import('./operator/server.ts')).operatorServer({ ...shared, processMetrics }),
          config.operatorHost,
          config.operatorPort,
          'OPERATOR_PORT',
        )
      : null
    const { metricsPort, metricsHost } = config
    const metricsUrl =
      metricsPort === null
        ? null
        : await listen(
            servers,
            await (await import('./operator/metrics-server.ts')).metricsServer({ config, log, operators, processMetrics }),
            metricsHost,
            metricsPort,
            'METRICS_PORT',
          )
    const delivering = { network: webhooks, sealing: webhooks.sealing, retryDelaysMs: config.webhookRetryDelaysMs }
    if (worker)
      sender = (await import('#webhooks/delivery/sender.ts')).startSender({
        db,
        log,
        scheduler,
        notices,
        now,
        ...delivering,
        alone: config.alone,
      })
    const bare = { db, now, requestId: null, idempotency: null, precondition: null, market, rules: config.priceRules, caughtUp }
    const ctx = (viewer: Viewer): NodeCtx => ({ ...bare, viewer })
    if (worker) {
      const workerCtx = ctx({ kind: 'operator', name: 'worker' })
      scheduler.add({ name: 'listing-expiry', intervalMs: EVERY.expiry, run: () => expireListings(workerCtx) })
      scheduler.add({ name: 'approval-rules', intervalMs: EVERY.approvalRules, run: () => judgeWaiting(workerCtx) })
      const repricingCtx = { ...workerCtx, catalogue, listings }
      scheduler.add({ name: 'repricing', intervalMs: EVERY.repricing, run: () => runDueRules(repricingCtx) })
      const pricing = { db, now, catalogue, currencies: config.sourceCurrencies, market: { timeZone: config.timeZone } }
      scheduler.add({ name: 'collection-worth', intervalMs: EVERY.collectionWorth, run: () => recordWorth(pricing) })
      scheduler.add({ name: 'price-evidence', intervalMs: EVERY.priceEvidence, run: () => judgeAllPrices(workerCtx) })
      const { currencies } = config.priceRules
      scheduler.add({
        name: 'day-counts',
        intervalMs: EVERY.dayCounts,
        run: () => recordDay({ ...workerCtx, marketNames: config.marketNames }, config.timeZone),
      })
      scheduler.add({ name: 'price-reviews', intervalMs: EVERY.priceReviews, run: () => rankReviews(db, currencies, now()) })
      scheduler.add({ name: 'dumps', intervalMs: EVERY.dumps, run: () => dumps.makeDue(catalogue.items.live.size === 0) })
      const { priceArchiveMonths, auditArchiveMonths } = config
      const { signal } = stopping
      const archiving = async (migration: string, keepMonths: number, run: () => Promise<unknown>) => {
        if (keepMonths === 0 || !(await mayArchive(db, migration))) return
        await run().catch((error: unknown) => {
          if (!signal.aborted) throw error
        })
      }
      scheduler.add({
        name: 'price-archive',
        intervalMs: EVERY.archives,
        run: () => archiving('price_archives', priceArchiveMonths, () => archiveOldMonths({ db, archive, now: now(), signal }, priceArchiveMonths)),
      })
      scheduler.add({
        name: 'audit-archive',
        intervalMs: EVERY.archives,
        run: () =>
          archiving('audit_archives', auditArchiveMonths, () =>
            archiveOldAudit({ db, archive: auditArchive, now: now(), signal }, auditArchiveMonths),
          ),
      })
      const beating = (heartbeat = workerHeartbeat(db))
      scheduler.add({ name: 'worker-heartbeat', intervalMs: EVERY.heartbeat, run: () => beating.beat() })
    }
    if (startFile) {
      const intervalMs = startFileMinutes * MINUTE_MS
      // Nodes that share a file check its age at slightly different times.
      const unlessWithinMs = intervalMs * 0.9
      scheduler.add({ name: 'start-file', intervalMs, run: () => startFile.write({ unlessWithinMs, maxLockedMs: MAX_LOCKED_MS }) })
    }
    scheduleHousekeeping(scheduler, { db, archive, auditArchive, now, config })
    started = true
    const tasks = () => scheduler.tasks()
    const runTask = (name: string) => scheduler.runNow(name)
    return { publicUrl, operatorUrl, metricsUrl, catalogue, listings, polls, market, ctx, metrics, tasks, runTask, drain, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Null if no other node or process counts requests. */
function sharedCounting({ alone }: Config, db: Db, log: Log): LimitStore | null {
  return alone ? null : { db, log }
}

async function listen(servers: FastifyInstance[], server: FastifyInstance, host: string, port: number, setting: string): Promise<string> {
  servers.push(server)
  try {
    // For `localhost`, Fastify would open two listeners, and the second one could not be drained.
    await server.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port })
  } catch (error) {
    const code = (error as { code?: string }).code
    if (code === 'EADDRINUSE') throw new Error(`Port ${port} is in use; stop the other program or set ${setting}`, { cause: error })
    if (code === 'EACCES') throw new Error(`This user may not open port ${port}; set ${setting}`, { cause: error })
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new Error(`${host} is not an address of this machine; set ${setting.replace('PORT', 'HOST')}`, { cause: error })
    }
    throw error
  }
  const address = server.addresses()[0] as AddressInfo
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${name === '0.0.0.0' || name === '[::]' ? '127.0.0.1' : name}:${address.port}`
}

/** Resolves when all connections have ended, or after `withinMs`. */
async function emptied(servers: FastifyInstance[], withinMs: number): Promise<void> {
  const ends = Date.now() + withinMs
  while (Date.now() < ends && (await connectionsOf(servers)) > 0) await delay(DRAIN_POLL_MS)
}

async function connectionsOf(servers: FastifyInstance[]): Promise<number> {
  const counts = await Promise.all(servers.map(({ server }) => promisify(server.getConnections.bind(server))()))
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Lets requests in progress end, but closes stalled connections after `CLOSE_MS`. */
async function closeServer(server: FastifyInstance): Promise<void> {
  const cut = setTimeout(() => server.server.closeAllConnections(), CLOSE_MS)
  await server.close()
  clearTimeout(cut)
}

/** Schedules housekeeping: deletes expired data and prepares the months to come. Any node does this for all nodes. */
function scheduleHousekeeping(scheduler: Scheduler, node: HistoryCtx & { auditArchive: AuditArchive; now: () => Date; config: Config }): void {
  const { db, auditArchive, now } = node
  const { priceHistoryDays, auditLogDays, webhookLogDays } = node.config
  const tasks: [name: string, run: () => Promise<unknown>][] = [
    ['change-log-trimming', () => trimChangeLog(db)],
    ['idempotency-key-expiry', () => forgetOldIdempotencyKeys(db)],
    ['price-months', () => prepareMonths(db, now())],
    ['price-retention', () => forgetOldPrices(node, priceHistoryDays, now())],
    ['price-statement-retention', () => forgetOldStatements(db, priceHistoryDays, now())],
    ['audit-retention', () => forgetOldAudit({ db, archive: auditArchive }, auditLogDays, now())],
    ['webhook-retention', () => forgetOldEvents(db, webhookLogDays, now())],
    ['listing-import-retention', () => forgetOldListingImports(db, now())],
    ['price-job-retention', () => forgetOldPriceJobs(db, now())],
    ['key-usage-retention', () => forgetOldUsage(db, now())],
  ]
  for (const [name, run] of tasks) scheduler.add({ name, intervalMs: EVERY.housekeeping, run })
  scheduler.add({ name: 'broken-imports', intervalMs: EVERY.brokenImports, run: () => failBrokenImports(db) })
}

async function closeQuietly(keyring: Keyring): Promise<void> {
  // If the database is already gone, only the times of last use are lost.
  await keyring.close().catch(() => {})
}
