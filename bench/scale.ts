// `node bench/scale.ts`: measures the same workloads at growing sizes, with start time, memory and the growth of cost.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { Command, InvalidArgumentError, Option } from 'commander'
import { answerTo, spread } from './answers.ts'
import { curvesChart } from './chart.ts'
import { medians } from './compare.ts'
import { type BenchServer, startDatabaseServer } from './database.ts'
import { copyGeneratedData } from './generated-data.ts'
import { generateListings, generateSales } from './generated-listings.ts'
import { heldMemory } from './inspect.ts'
import { CONNECTIONS, measure, writeRequests } from './load.ts'
import { type Node, pinProcess, residentMb, SERVER_CORE, startNode } from './processes.ts'
import { type Kind, panelsOf, type Point, type Scale, scaleTables } from './scale-report.ts'
import { type Effort, openStage, type Stage } from './stage.ts'
import { show } from './tables.ts'
import type { HttpWorkload } from './workload.ts'
import { WORKLOADS } from './workloads/all.ts'

interface Options {
  items?: number[]
  listings?: number[]
  only: string[]
  seconds: number
  fresh: boolean
  markdown: boolean
  chart?: string
}

const SIZES: Record<Kind, number[]> = { items: [10_000, 100_000, 1_000_000], listings: [10_000, 1_000_000, 5_000_000] }
/** Number of items that listings are generated for. */
const ITEMS_BELOW_LISTINGS = 25_000
const ROUNDS = 3
const PROBES = 5
const ANSWERS_EACH = 4
const MAX_SECONDS = 30
const CHART = 'docs/images/scale.svg'
const ROOT = new URL('../', import.meta.url)
const RESULTS = new URL('results/', import.meta.url)
const FILE = new URL('scale.json', RESULTS)

const options = new Command('bench scale')
  .description('Measures workloads at growing sizes; earlier results are kept, so that sizes can be measured one by one')
  .option('--items <list>', 'sizes of the catalogue, such as 10000,100000', sizes)
  .option('--listings <list>', 'numbers of listings', sizes)
  .option('--only <ids>', 'workloads to run', (text) => text.split(','), ['1', '2', '3', '4', '4n', '6', '6d', '7', '8'])
  .option('--seconds <n>', 'seconds per round', (text) => sizes(text)[0]!, 2)
  .option('--fresh', 'discard earlier results', false)
  .option('--markdown', 'print tables in Markdown', false)
  .addOption(new Option('--chart [file]', 'draw the curves').preset(CHART))
  .parse()
  .opts<Options>()
const effort: Effort = { seconds: options.seconds, rounds: ROUNDS, totals: 2, quick: true, profiles: null }
const started = performance.now()
process.once('SIGINT', () => process.exit(130))
await run()

function sizes(text: string): number[] {
  if (!/^[1-9]\d{0,7}(,[1-9]\d{0,7})*$/.test(text)) throw new InvalidArgumentError('It must be a comma-separated list of integers of at least 1.')
  return text.split(',').map(Number)
}

/** If only sizes of one kind are given, only that kind is measured. */
function sizesOf(kind: Kind): number[] {
  return options[kind] ?? (options.items || options.listings ? [] : SIZES[kind])
}

async function run(): Promise<void> {
  const hasResults = !options.fresh && existsSync(FILE)
  const scale: Scale = hasResults ? (JSON.parse(readFileSync(FILE, 'utf8')) as Scale) : { machine: '', points: [] }
  for (const kind of ['items', 'listings'] as const) {
    for (const n of sizesOf(kind)) {
      const server = await startDatabaseServer()
      try {
        const point = await measureSize(server, kind, n)
        scale.machine = `${cpus().length} cores ${cpus()[0]!.model}, Node ${process.version}, ${server.describe}`
        scale.points = [...scale.points.filter((other) => other.kind !== kind || other.n !== n), point].sort((a, b) => a.n - b.n)
      } finally {
        await server.close()
      }
      mkdirSync(RESULTS, { recursive: true })
      writeFileSync(FILE, `${JSON.stringify(scale, null, 2)}\n`)
    }
  }
  console.log(`\n${scale.machine}`)
  for (const table of scaleTables(scale.points)) console.log(`\n${show(table, options.markdown)}`)
  const panels = panelsOf(scale.points)
  if (options.chart && panels.length > 0) {
    writeFileSync(new URL(options.chart, ROOT), curvesChart(panels, 'Processor time of the node per request by size'))
  }
}

async function measureSize(server: BenchServer, kind: Kind, n: number): Promise<Point> {
  const database = await server.create('scale')
  const listings = kind === 'listings' ? n : 0
  if (kind === 'listings') {
    await copyGeneratedData(database.ctx.db, ITEMS_BELOW_LISTINGS)
    await generateSales(database.ctx.db, database.accounts.plus.id)
  }
  const without = await startAndStop(database)
  say(`generating ${n} ${kind}`)
  if (kind === 'items') await copyGeneratedData(database.ctx.db, n)
  else await generateListings(database.ctx.db, database.accounts.plus.id, n)
  pinProcess(server.pid, SERVER_CORE)
  const startedAt = performance.now()
  const stage = openStage(server, database, { listings, effort, say })
  try {
    const node = await stage.node()
    await answerTo(node, database.accounts.professional.key, '/api/v1/items/1')
    const startMs = performance.now() - startedAt
    const full = await heldMemory(node)
    say(`${n} ${kind}: start ${(startMs / 1_000).toFixed(1)} s, ${Math.round(full.resident / 1e6)} MB`)
    const cost: Point['cost'] = {}
    for (const workload of workloadsOf(kind)) {
      const figures = await measureAlone(stage, workload)
      if (figures.requests > 0) cost[workload.id] = figures
    }
    const bytes = { held: (full.held - without.held) / n, resident: (full.resident - without.resident) / n }
    const [withoutMb, withMb] = [without.resident / 2 ** 20, full.resident / 2 ** 20]
    return { kind, n, startMs, withoutMb, residentMb: withMb, afterLoadMb: residentMb(node.pid), bytes, cost }
  } finally {
    await stage.close()
  }
}

/** Start time and memory of a node without the counted records. */
async function startAndStop({ url, accounts }: Stage['database']) {
  const node = await startNode(url)
  await answerTo(node, accounts.professional.key, '/api/v1/items')
  const memory = await heldMemory(node)
  await node.stop()
  return memory
}

/** Items are read, and listings searched and written, at their own sizes. */
function workloadsOf(kind: Kind): HttpWorkload[] {
  const chosen = WORKLOADS.filter((one): one is HttpWorkload => 'traffic' in one && options.only.includes(one.id))
  return chosen.filter(({ id }) => (kind === 'items') === /^[1-5]/.test(id))
}

/** Measures only our node, because just its cost per request matters here. */
async function measureAlone(stage: Stage, { id, title, traffic }: HttpWorkload): Promise<Point['cost'][string]> {
  const { plan, requests, verify } = await traffic(stage)
  const node = await stage.node()
  const { key } = stage.database.accounts[plan]
  const load = { url: node.url, pid: node.pid, key, requestsFile: writeRequests(stage.server.dir, id, requests) }
  const seconds = await secondsFor(node, key, requests)
  const loads = []
  for (let round = 0; round <= ROUNDS; round += 1) loads.push(await measure(load, seconds))
  const figures = medians(loads.slice(1))
  await verify?.(loads)
  say(`  ${id} ${title}: ${Math.round(figures.requestsPerSecond)} requests/s, ${figures.cpuMicros.toFixed(0)} µs, p99 ${figures.p99.toFixed(1)} ms`)
  return { title, ...figures }
}

/** Long enough that every connection gets several responses even if they are slow. */
async function secondsFor(node: Node, key: string, requests: string[]): Promise<number> {
  const probed = spread(
    requests.filter((request) => !request.includes('\t')),
    PROBES,
  )
  const probeStarted = performance.now()
  for (const request of probed) await answerTo(node, key, request)
  const ms = (performance.now() - probeStarted) / Math.max(1, probed.length)
  return Math.min(MAX_SECONDS, Math.max(effort.seconds, Math.ceil((ms * CONNECTIONS * ANSWERS_EACH) / 1_000)))
}

function say(line: string): void {
  process.stderr.write(`${((performance.now() - started) / 1_000).toFixed(0).padStart(4)} s  ${line}\n`)
}
