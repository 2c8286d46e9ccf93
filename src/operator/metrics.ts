// Metrics in the Prometheus format: requests, memory, change feed lag, queues and feeds.
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'
import { machineMs } from '#core/process/time-and-chance.ts'
import type { Keyring } from '#accounts/keys/keyring.ts'
import type { RateLimits } from '#accounts/limits/rate-limits.ts'
import { OTHER_KEYS } from '#accounts/keys/usage.ts'
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { DURATION_BUCKETS, type RequestCounts } from '#http/request-counts.ts'
import type { ImageProxy } from '#images/image-proxy.ts'
import type { Scheduler } from '#jobs/scheduler.ts'
import { openEventLoopMetrics } from './event-loop-metrics.ts'
import type { Stats } from '#stats/read-stats.ts'

/** The parts of a node that are measured. */
export interface MeasuredNode {
  catalogue: Catalogue
  images: ImageProxy | null
  requests: RequestCounts
  limits: Pick<RateLimits, 'countedAlone'>
  feed: { lastPullMs: number }
  scheduler: Pick<Scheduler, 'tasks'>
  keys: Keyring
  operators: Keyring
  consoleSessions: Keyring
  sellerSessions: Keyring
}

/** Creates gauges in the registry, adding the common prefix to their names. */
function gaugesOf(registry: Registry): (name: string, help: string, labelNames?: string[]) => Gauge {
  return (name, help, labelNames = []) => new Gauge({ name: `mintmark_${name}`, help, labelNames, registers: [registry] })
}

/**
 * Opens the metrics of one process and returns a function that renders them.
 * @param name value of the label `process` on every sample; null for none
 */
export function openProcessMetrics(node: MeasuredNode, name: string | null): () => Promise<string> {
  const registry = new Registry()
  if (name !== null) registry.setDefaultLabels({ process: name })
  collectDefaultMetrics({ register: registry, prefix: 'mintmark_' })
  const eventLoop = openEventLoopMetrics(name)
  const gauge = gaugesOf(registry)
  const items = gauge('items', 'Items in memory')
  const memory = gauge('snapshot_bytes', 'Memory of the catalogue outside the JavaScript heap', ['part'])
  const behind = gauge('change_feed_age_seconds', 'Time since this node last read the change log to its end')
  const taskRun = gauge('task_last_run_timestamp_seconds', 'End of the last run of a periodic task on this node', ['task'])
  const taskDuration = gauge('task_last_run_duration_seconds', 'Duration of the last run of a periodic task', ['task'])
  const taskFailure = gauge('task_last_failure_timestamp_seconds', 'Time of the last failed run of a periodic task; absent if none failed', ['task'])
  const failures = new Counter({
    name: 'mintmark_failed_authentications_total',
    help: 'Rejected credentials: invalid ones, and those from addresses with too many failures',
    labelNames: ['credential', 'reason'],
    registers: [registry],
  })
  const countedAlone = new Counter({
    name: 'mintmark_requests_counted_alone_total',
    help: 'Requests counted against rate limits on this node alone, because PostgreSQL did not respond',
    registers: [registry],
  })
  const imageBytes = gauge('image_cache_bytes', 'Disk space used by cached images; absent if IMAGE_PROXY is off')
  const imageRequests = new Counter({
    name: 'mintmark_image_requests_total',
    help: 'Requests for images: answered from the cache, fetched from the source, failed',
    labelNames: ['outcome'],
    registers: [registry],
  })
  const keyRequests = new Counter({
    name: 'mintmark_api_key_requests_total',
    help: 'Requests admitted, by API key and operation; keys beyond the first 200 share the key_id other',
    labelNames: ['key_id', 'operation'],
    registers: [registry],
  })
  const keyrings = { api_key: node.keys, operator_token: node.operators, console_session: node.consoleSessions, seller_session: node.sellerSessions }
  return async () => {
    items.set(node.catalogue.items.live.size)
    for (const [part, bytes] of Object.entries(node.catalogue.memory())) memory.set({ part }, bytes)
    behind.set((machineMs() - node.feed.lastPullMs) / 1_000)
    for (const { name: task, lastRunMs, durationMs, lastFailureMs } of node.scheduler.tasks()) {
      if (lastRunMs === null) continue
      taskRun.set({ task }, lastRunMs / 1_000)
      taskDuration.set({ task }, durationMs / 1_000)
      if (lastFailureMs !== null) taskFailure.set({ task }, lastFailureMs / 1_000)
    }
    failures.reset()
    for (const [credential, { failures: counts }] of Object.entries(keyrings)) {
      failures.inc({ credential, reason: 'invalid' }, counts.refused)
      failures.inc({ credential, reason: 'limited' }, counts.limited)
    }
    countedAlone.reset()
    countedAlone.inc(node.limits.countedAlone)
    keyRequests.reset()
    for (const [keyId, operations] of node.keys.usage?.totals() ?? []) {
      for (const [operation, requests] of operations) keyRequests.inc({ key_id: keyId === OTHER_KEYS ? 'other' : keyId, operation }, requests)
    }
    imageBytes.remove()
    imageRequests.reset()
    if (node.images) {
      const { bytes, ...outcomes } = node.images.counts()
      imageBytes.set(bytes)
      for (const [outcome, count] of Object.entries(outcomes)) imageRequests.inc({ outcome }, count)
    }
    return `${await registry.metrics()}\n${requestMetrics(node.requests, name)}\n${eventLoop()}`
  }
}

/** Opens the metrics that are the same on every node, read from the database: queues, sources and workers. */
export function openServiceMetrics(): (stats: Stats) => Promise<string> {
  const registry = new Registry()
  const gauge = gaugesOf(registry)
  const listings = gauge('listings', 'Listings by status', ['status'])
  const events = gauge('webhook_events', 'Webhook events by state', ['state'])
  const oldest = gauge('webhook_oldest_seconds', 'Age of the oldest pending webhook event')
  const failing = gauge('webhooks_failing', 'Receivers whose last attempt failed')
  const success = gauge('webhook_success_share', 'Success rate of delivery attempts in the last day, by account', ['account_id'])
  const workersAlive = gauge('workers_alive', 'Workers seen in the last minute; they deliver webhooks and end publication periods')
  const workerSeen = gauge('worker_last_seen_seconds', 'Time since a worker was last seen; absent if none was seen in the last days')
  const held = gauge('held_prices', 'Held prices, by rule', ['rule'])
  const age = gauge('feed_age_seconds', 'Time since a market last received a price', ['market', 'group'])
  const prices = gauge('prices', 'Current prices', ['market', 'group'])
  return (stats) => {
    const now = machineMs()
    setAll(listings, 'status', stats.listings)
    setAll(events, 'state', stats.webhook_events)
    setAll(held, 'rule', stats.held_prices)
    failing.set(stats.webhooks_failing)
    success.reset()
    for (const { account_id, success_share } of stats.webhook_receivers) success.set({ account_id }, success_share)
    workersAlive.set(stats.workers.alive)
    if (stats.workers.last_seen_seconds === null) workerSeen.remove()
    else workerSeen.set(stats.workers.last_seen_seconds)
    const waitingSince = stats.waiting_since.webhook_event
    oldest.set(waitingSince ? (now - Date.parse(waitingSince)) / 1_000 : 0)
    for (const source of stats.sources) {
      const labels = { market: source.market, group: source.group }
      prices.set(labels, source.prices)
      if (source.last_feed_at) age.set(labels, (now - Date.parse(source.last_feed_at)) / 1_000)
    }
    return registry.metrics()
  }
}

/** Joins the metrics of several processes: the format requires all samples of a metric below one description. */
export function mergeMetrics(texts: readonly string[]): string {
  const families = new Map<string, string[]>()
  for (const text of texts) {
    for (const family of text.split(/^(?=# HELP )/m)) {
      const [help, type, ...samples] = family.split('\n').filter((line) => line !== '')
      if (!help) continue
      const description = `${help}\n${type}`
      families.set(description, [...(families.get(description) ?? []), ...samples])
    }
  }
  return `${[...families].map(([description, samples]) => [description, ...samples].join('\n')).join('\n\n')}\n`
}

/** Resets the gauge first, so that states which no longer occur are not reported with their last count. */
function setAll(gauge: Gauge, label: string, counts: Record<string, number>): void {
  gauge.reset()
  for (const [name, count] of Object.entries(counts)) gauge.set({ [label]: name }, count)
}

function requestMetrics(requests: RequestCounts, process: string | null): string {
  const name = 'mintmark_http_request_seconds'
  const lines = [`# HELP ${name} Answered requests by route and status`, `# TYPE ${name} histogram`]
  for (const { method, route, status, count, seconds, buckets } of requests.all()) {
    const labels = `${process === null ? '' : `process="${process}",`}method="${method}",route="${route.replace(/[\\"\n]/g, '')}",status="${status}"`
    let sum = 0
    DURATION_BUCKETS.forEach((bound, i) => {
      sum += buckets[i]!
      lines.push(`${name}_bucket{${labels},le="${bound}"} ${sum}`)
    })
    lines.push(`${name}_bucket{${labels},le="+Inf"} ${count}`, `${name}_sum{${labels}} ${seconds}`, `${name}_count{${labels}} ${count}`)
  }
  return `${lines.join('\n')}\n`
}
