// `npm run bench`: prepares data, measures our node against bare node:http and a baseline Fastify + pg server, and prints the results.
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { Command, InvalidArgumentError, Option } from 'commander'
import { ABLATED, ablate, compareNodes } from './ablate.ts'
import { atFixedRate, PACED } from './at-fixed-rate.ts'
import { shareChart } from './chart.ts'
import { type BenchDatabase, startDatabaseServer } from './database.ts'
import { copyGeneratedData, copyOtherMarketPrices } from './generated-data.ts'
import { generateListings, generateSales } from './generated-listings.ts'
import { memoryOverTime } from './memory-over-time.ts'
import { canPin, pinProcess, SERVER_CORE } from './processes.ts'
import { hasRealData, type ImportedFile, importRealData } from './real-data.ts'
import { comparisonsOf, printResults, type Results } from './report.ts'
import { type Effort, openStage, type Stage } from './stage.ts'
import { CHANGING, whileChanging } from './while-changing.ts'
import type { HttpWorkload, Measured, Workload } from './workload.ts'
import { chosenWorkloads } from './workloads/all.ts'

interface Options {
  data: 'real' | 'generated'
  items: number
  listings: number
  only: string[] | null
  quick: boolean
  markdown: boolean
  profile: boolean
  ablate: boolean
  beside: string[]
  changing: boolean
  paced: boolean
  soak?: number
  chart?: string
}

const CHART = 'docs/images/benchmarks.svg'
const ROOT = new URL('../', import.meta.url)
const RESULTS = new URL('results/', import.meta.url)

const options = new Command('bench')
  .description('Compares the service with bare node:http and a baseline Fastify + pg server')
  .addOption(new Option('--data <data>', 'data in the database').choices(['real', 'generated']).default(hasRealData() ? 'real' : 'generated'))
  .option('--items <n>', 'number of generated items', wholeNumber, 25_000)
  .option('--listings <n>', 'number of generated listings for the items', wholeNumber, 100_000)
  .option('--only <ids>', 'workloads to run, such as 1,6w', (text) => text.split(','))
  .option('--quick', 'one short round each', false)
  .option('--profile', 'print the hottest functions of our node, and save the profiles', false)
  .option('--ablate', 'measure the workloads with only each optimisation, and with all but each', false)
  .option(
    '--beside <node>',
    'compare with a node of another checkout, with other settings or options of Node; repeatable',
    (text, all: string[]) => [...all, text],
    [],
  )
  .option('--changing', 'compare reads while prices arrive with the same reads while nothing changes', false)
  .option('--paced', 'measure latencies at 70 % of the highest load, from the due times of requests', false)
  .option('--soak <minutes>', 'memory of a node under all workloads over HTTP in turn', wholeNumber)
  .option('--markdown', 'print tables in Markdown', false)
  .addOption(new Option('--chart [file]', 'draw a chart of the shares of bare node:http').preset(CHART))
  .parse()
  .opts<Options>()
const effort: Effort = options.quick
  ? { seconds: 1, rounds: 1, totals: 4, quick: true, profiles: profiles() }
  : { seconds: 2, rounds: 3, totals: 8, quick: false, profiles: profiles() }
const started = performance.now()
process.once('SIGINT', () => process.exit(130))
await run()

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,7}$/.test(text)) throw new InvalidArgumentError('It must be an integer of at least 1.')
  return Number(text)
}

function profiles(): URL | null {
  return options.profile ? RESULTS : null
}

async function run(): Promise<void> {
  const workloads = chosenWorkloads(
    options.only ?? (options.ablate || options.beside.length > 0 ? ABLATED : options.changing ? CHANGING : options.paced ? PACED : null),
    options.ablate || options.beside.length > 0 || options.changing || options.paced,
  )
  if (workloads.length === 0) throw new Error(`Unknown workloads: ${options.only!.join(', ')}`)
  if (!canPin) say('taskset not found: servers and load share all cores, so figures vary more')
  const server = await startDatabaseServer()
  try {
    const database = await server.create('bench')
    const datasets = new Set(workloads.map(({ data }) => data))
    const listings = datasets.has('listings') ? options.listings : 0
    const files = listings > 0 || datasets.has('items') ? await fill(database, listings) : []
    pinProcess(server.pid, SERVER_CORE)
    const stage = openStage(server, database, { listings, effort, say })
    const measured = await measureAll(workloads, stage).finally(stage.close)
    report({
      at: new Date().toISOString(),
      machine: `${cpus().length} cores ${cpus()[0]!.model}, Node ${process.version}, ${server.describe}`,
      data: `${options.data === 'real' ? 'real items' : `${options.items} generated items`}, ${listings} generated listings`,
      seconds: (performance.now() - started) / 1_000,
      measured,
      files,
    })
  } finally {
    await server.close()
  }
}

async function measureAll(workloads: Workload[], stage: Stage): Promise<Measured[]> {
  if (options.ablate) return [await ablate(stage, workloads as HttpWorkload[])]
  if (options.beside.length > 0) return [await compareNodes(stage, workloads as HttpWorkload[], options.beside)]
  if (options.paced) return [await atFixedRate(stage, workloads as HttpWorkload[])]
  if (options.soak)
    return [
      await memoryOverTime(
        stage,
        workloads.filter((one): one is HttpWorkload => 'traffic' in one),
        options.soak,
      ),
    ]
  if (options.changing) return [await whileChanging(stage, workloads as HttpWorkload[])]
  const measured: Measured[] = []
  for (const workload of workloads) {
    const measure = await workload.prepare(stage)
    measured.push(await measure())
  }
  return measured
}

async function fill({ ctx, accounts }: BenchDatabase, listings: number): Promise<ImportedFile[]> {
  const files: ImportedFile[] = []
  if (options.data === 'generated') {
    say(`generating ${options.items} items`)
    await copyGeneratedData(ctx.db, options.items)
    await copyOtherMarketPrices(ctx.db, options.items)
  } else {
    await importRealData(ctx, (file) => {
      files.push(file)
      say(`imported ${file.file}: ${file.rows} rows in ${file.seconds.toFixed(1)} s, ${file.rejected} rejected`)
    })
  }
  if (listings > 0) {
    say(`generating ${listings} listings`)
    await generateSales(ctx.db, accounts.plus.id)
    await generateListings(ctx.db, accounts.plus.id, listings)
  }
  return files
}

function report(results: Results): void {
  mkdirSync(RESULTS, { recursive: true })
  writeFileSync(new URL('latest.json', RESULTS), `${JSON.stringify(results, null, 2)}\n`)
  printResults(results, options.markdown)
  const comparisons = comparisonsOf(results.measured)
  if (options.chart && comparisons.length > 0) {
    const chart = shareChart(comparisons, 'Share of what bare node:http answers on the same core; the mark is the goal')
    writeFileSync(new URL(options.chart, ROOT), chart)
  }
}

function say(line: string): void {
  process.stderr.write(`${((performance.now() - started) / 1_000).toFixed(0).padStart(4)} s  ${line}\n`)
}
