// `node bench/capacity.ts [--check]`: estimates the machines for 10,000, 1 M and 100 M users from measured costs, and checks the model against real
// load.
import { setTimeout as delay } from 'node:timers/promises'
import { startDatabaseServer } from './database.ts'
import { copyGeneratedData } from './generated-data.ts'
import { paced } from './paced.ts'
import { cpuMicros, startNode } from './processes.ts'

/** Processor time of a node per request in microseconds with all connections busy: docs/benchmarks.md, 22 November 2026. */
const COST = {
  item: { micros: 17.3, source: 'workload 1' },
  list: { micros: 30.4, source: 'workload 2n, none repeated soon' },
  search: { micros: 20.9, source: 'workload 4n' },
  listings: { micros: 40.7, source: 'workload 6n' },
  graphql: { micros: 32.5, source: 'workload 5n' },
  chart: { micros: 2_000, source: 'bench/prices/archive.ts: decoding of 12 row groups; an upper bound, most charts need fewer' },
  write: { micros: 47.8, source: 'workload 7' },
} as const
type Kind = keyof typeof COST

/**
 * Additional cost of an isolated request: its own wake-up and system calls, which busy connections share. From `--check`, at 500 requests per second.
 */
const ALONE_MICROS = 100
/** Share of a core that an idle node uses: from `--check`. */
const IDLE_SHARE = 0.005

const SHARES: Record<Kind, number> = { item: 0.4, list: 0.2, search: 0.15, listings: 0.15, graphql: 0.05, chart: 0.03, write: 0.02 }
const ASSUMED = {
  activeShare: 0.1,
  requestsOfActive: 60,
  peak: 4,
  usedOfCore: 0.5,
  listingsOfUser: 0.5,
  changingPrices: 0.2,
  pricesOfItem: 8,
  salesOfActive: 0.02,
  eventsOfSale: 2,
}
/** docs/benchmarks.md: bytes per item with 8 prices and per listing; in MB, memory of an empty node, response caches, and garbage. */
const MEMORY = { item: 386, listing: 89, emptyMb: 186, readyMb: 2 * 96, garbageMb: 300 }
/** docs/benchmarks.md: durable writes per second of one core, webhooks per second to one receiver. */
const WRITES_A_SECOND = 12_078
const WEBHOOKS_A_SECOND = 10_000 / 10.9
/** Bytes per point of the history in PostgreSQL with its index (90 GB for 584 M points), and in the archive (bench/prices/archive.ts). */
const POINT_BYTES = { database: 154, archive: 11 }
const CONNECTIONS_OF_NODE = 20
const SECONDS_A_DAY = 86_400

const SIZES = [
  { users: 10_000, items: 100_000 },
  { users: 1_000_000, items: 1_000_000 },
  { users: 100_000_000, items: 1_000_000 },
]

interface Demand {
  peakRequests: number
  peakWrites: number
  listings: number
  pointsADay: number
  peakWebhooks: number
  auditRowsAYear: number
  cores: number
  nodeMemoryMb: number
  /** nodes with one core each, including one spare */
  nodes: number
}

const microsOfRequest = Object.entries(SHARES).reduce((sum, [kind, share]) => sum + share * COST[kind as Kind].micros, 0)

/** Share of a core that a node uses; isolated requests cost more, those of a busy node share wake-ups. */
function coreShare(perSecond: number, micros: number): number {
  return IDLE_SHARE + (perSecond * micros) / 1e6 + (perSecond * ALONE_MICROS) / (1e6 * (1 + perSecond / 2_000))
}

function demandOf({ users, items }: (typeof SIZES)[number]): Demand {
  const active = users * ASSUMED.activeShare
  const mean = (active * ASSUMED.requestsOfActive) / SECONDS_A_DAY
  const peakRequests = mean * ASSUMED.peak
  const listings = users * ASSUMED.listingsOfUser
  const pointsADay = items * ASSUMED.pricesOfItem * ASSUMED.changingPrices
  const peakWebhooks = ((active * ASSUMED.salesOfActive * ASSUMED.eventsOfSale) / SECONDS_A_DAY) * ASSUMED.peak
  // Enough nodes that each one stays below its limit; their shares depend on the rate.
  let busy = 1
  while (coreShare(peakRequests / busy, microsOfRequest) > ASSUMED.usedOfCore) busy += 1
  return {
    peakRequests,
    peakWrites: peakRequests * SHARES.write,
    listings,
    pointsADay,
    peakWebhooks,
    auditRowsAYear: mean * SHARES.write * SECONDS_A_DAY * 365,
    cores: busy * coreShare(peakRequests / busy, microsOfRequest),
    nodeMemoryMb: MEMORY.emptyMb + MEMORY.readyMb + MEMORY.garbageMb + (items * MEMORY.item + listings * MEMORY.listing) / 1e6,
    nodes: busy + 1,
  }
}

/** The steps of scaling in order, with the condition that makes each one necessary. */
const LADDER: readonly [row: string, isNeeded: (demand: Demand) => boolean][] = [
  ['database failover', () => true],
  ['shared rate limits', ({ nodes }) => nodes > 2],
  ['several processes (API_PROCESSES)', ({ nodes }) => nodes > 2],
  ['the start file', ({ nodeMemoryMb }) => nodeMemoryMb > 1_000],
  ['the archive of the audit log', ({ auditRowsAYear }) => auditRowsAYear > 50e6],
  ['the archive of the price history', ({ pointsADay }) => pointsADay * 365 * POINT_BYTES.database > 20e9],
  ['separate nodes for listings', ({ listings }) => listings >= 50e6],
  ['more than one primary for writes', ({ peakWrites, pointsADay }) => peakWrites + pointsADay / 3_600 > WRITES_A_SECOND / 2],
  ['a pooler', ({ nodes }) => nodes * CONNECTIONS_OF_NODE > 200],
]

function print(): void {
  console.log('Assumed:')
  console.log(
    `- ${ASSUMED.activeShare * 100} % of users on a day, ${ASSUMED.requestsOfActive} requests each; the peak is ${ASSUMED.peak} times the mean`,
  )
  console.log(
    `- requests: ${Object.entries(SHARES)
      .map(([kind, share]) => `${kind} ${share * 100} %`)
      .join(', ')}; no cache in front`,
  )
  console.log(`- a core is used to ${ASSUMED.usedOfCore * 100} % at the peak, and one node is spare`)
  console.log(
    `- ${ASSUMED.listingsOfUser} listings a user; ${ASSUMED.salesOfActive} sales a day and active user, ${ASSUMED.eventsOfSale} webhooks each`,
  )
  console.log(`- ${ASSUMED.pricesOfItem} prices an item, ${ASSUMED.changingPrices * 100} % of which change a day`)
  console.log(`- ${microsOfRequest.toFixed(0)} µs a request, ${ALONE_MICROS} more where it comes alone:`)
  for (const [kind, { micros, source }] of Object.entries(COST)) console.log(`    ${kind} ${micros} µs (${source})`)
  const count = (n: number) => (n < 10 ? n.toFixed(1) : Math.round(n).toLocaleString('en'))
  for (const size of SIZES) {
    const demand = demandOf(size)
    const yearly = demand.pointsADay * 365
    console.log(
      `\n${size.users.toLocaleString('en')} users, ${size.items.toLocaleString('en')} items, ${demand.listings.toLocaleString('en')} listings`,
    )
    console.log(
      `  at the peak: ${count(demand.peakRequests)} requests, ${count(demand.peakWrites)} writes, ${count(demand.peakWebhooks)} webhooks a second`,
    )
    console.log(`  API: ${count(demand.cores)} cores busy, ${demand.nodes} nodes of one core with ${count(demand.nodeMemoryMb)} MB each`)
    console.log(
      `  workers: ${Math.max(1, Math.ceil(demand.peakWebhooks / (WEBHOOKS_A_SECOND / 2)))}; PostgreSQL: ${count((demand.peakWrites / WRITES_A_SECOND) * 100)} % of its durable writes`,
    )
    console.log(
      `  a year: ${count(yearly / 1e6)} M points, ${count((yearly * POINT_BYTES.database) / 1e9)} GB in PostgreSQL or ${count((yearly * POINT_BYTES.archive) / 1e9)} GB archived; ${count(demand.auditRowsAYear / 1e6)} M audit rows`,
    )
    console.log(
      `  needs: ${LADDER.filter(([, isNeeded]) => isNeeded(demand))
        .map(([row]) => row)
        .join('; ')}`,
    )
  }
}

/** Items, lists and searches at two rates: the measured share of a core next to the model's. */
async function check(): Promise<void> {
  const items = 10_000
  const seconds = 5
  const server = await startDatabaseServer()
  try {
    const database = await server.create('capacity')
    await copyGeneratedData(database.ctx.db, items)
    const node = await startNode(database.url)
    const key = database.accounts.professional.key
    const requests = Array.from({ length: 3_000 }, (_, i) => {
      const item = `/api/v1/items/${1 + ((i * 7919) % items)}`
      return [
        item,
        item,
        `/api/v1/items?page=${1 + (i % 100)}`,
        `/api/v1/items?search=${String.fromCharCode(97 + (i % 26))}${String.fromCharCode(97 + (i % 23))}`,
      ][i % 4]!
    })
    const micros = 0.5 * COST.item.micros + 0.25 * COST.list.micros + 0.25 * COST.search.micros
    const usedOver = async (count: number, run: () => Promise<unknown>) => {
      const [from, at] = [cpuMicros(node.pid), performance.now()]
      await run()
      const elapsedMs = performance.now() - at
      return { share: (cpuMicros(node.pid) - from) / 1_000 / elapsedMs, perSecond: (count * 1_000) / elapsedMs }
    }
    const percent = (share: number) => `${(share * 100).toFixed(1)} %`
    await paced({ url: node.url, key, requests, perSecond: 1_000, seconds: 3 })
    console.log(`\nChecked: items, lists and searches of ${items.toLocaleString('en')} items for ${seconds} s`)
    const idle = await usedOver(0, () => delay(seconds * 1_000))
    console.log(`  idle: ${percent(idle.share)} of a core, predicted ${percent(IDLE_SHARE)}`)
    for (const target of [500, 2_000]) {
      const used = await usedOver(target * seconds, () => paced({ url: node.url, key, requests, perSecond: target, seconds }))
      // Uses the rate actually reached, which on a busy machine is below the target.
      const predicted = coreShare(used.perSecond, micros)
      console.log(`  ${used.perSecond.toFixed(0)} requests a second: ${percent(used.share)} of a core, predicted ${percent(predicted)}`)
    }
    await node.stop()
    await database.close()
  } finally {
    await server.close()
  }
}

print()
if (process.argv.includes('--check')) await check()
