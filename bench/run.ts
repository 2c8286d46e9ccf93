// `npm run bench`: prepares data, measures our node beside bare node:http and a plain Fastify+pg server, and reports.
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { InvalidArgumentError, Command, Option } from 'commander'
import { type BenchDatabase, type BenchServer, startDatabaseServer } from './database.ts'
import { copyGeneratedData } from './generated-data.ts'
import { type LoadFigures, measure, writePaths } from './load.ts'
import { measurePriceImport } from './price-import.ts'
import { canPin, pinProcess, residentMb, SERVER_CORE, type Server, startServer } from './processes.ts'
import { hasRealData, type ImportedFile, importRealData } from './real-data.ts'
import { printResults, type Results, type StartFigures, type WorkloadFigures } from './report.ts'
import { checkAnswer, readWorkloads, type Workload } from './workloads.ts'

interface Options {
  data: 'real' | 'generated'
  items: number
  only: string[] | null
  quick: boolean
  markdown: boolean
}

const IMPORT_ROWS = 1_000_000
const CHECKED_ANSWERS = 40
const RESULTS = new URL('results/', import.meta.url)

const options = readOptions()
const seconds = options.quick ? 1 : 3
const rounds = options.quick ? 1 : 3
process.once('SIGINT', () => process.exit(130))
await run()

function readOptions(): Options {
  return new Command('bench')
    .description('Measures the service beside bare node:http and a plain Fastify+pg server')
    .addOption(new Option('--data <data>', 'what is in the database').choices(['real', 'generated']).default(hasRealData() ? 'real' : 'generated'))
    .option('--items <n>', 'how many items are generated', wholeNumber, 50_000)
    .option('--only <ids>', 'workloads to run, such as 1,2', (text) => text.split(','))
    .option('--quick', 'one short round each', false)
    .option('--markdown', 'print tables in Markdown', false)
    .parse()
    .opts<Options>()
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,7}$/.test(text)) throw new InvalidArgumentError('It must be a whole number above 0.')
  return Number(text)
}

/** Whether a workload is chosen: `1` stands for all its variants. */
function chosen(id: string): boolean {
  return !options.only || options.only.some((wanted) => id === wanted || id.replace(/[a-z]+$/, '') === wanted)
}

async function run(): Promise<void> {
  if (!canPin) say('taskset is missing: servers and load share all cores, figures are less steady')
  const server = await startDatabaseServer()
  try {
    const files: ImportedFile[] = []
    const readsData = ['1', '1s', '2', '3', '4', '4n', '11'].some(chosen)
    const database = await server.create('bench')
    if (readsData) await fill(database, files)
    pinProcess(server.pid, SERVER_CORE)
    const { workloads, start } = readsData ? await measureReads(server, database) : { workloads: [], start: null }
    await database.close()
    const results: Results = {
      at: new Date().toISOString(),
      machine: `${cpus().length} cores ${cpus()[0]!.model}, Node ${process.version}, ${server.describe}`,
      data: options.data === 'real' ? 'real data' : `${options.items} generated items`,
      files,
      workloads,
      priceImport: chosen('10') ? await priceImport(server) : null,
      start,
    }
    mkdirSync(RESULTS, { recursive: true })
    writeFileSync(new URL('latest.json', RESULTS), `${JSON.stringify(results, null, 2)}\n`)
    printResults(results, options.markdown)
  } finally {
    await server.close()
  }
}

async function fill({ ctx }: BenchDatabase, files: ImportedFile[]): Promise<void> {
  if (options.data === 'generated') {
    say(`generating ${options.items} items`)
    await copyGeneratedData(ctx.db, options.items)
    return
  }
  await importRealData(ctx, (file) => {
    files.push(file)
    say(`imported ${file.file}: ${file.rows} rows in ${file.seconds.toFixed(1)} s, ${file.rejected} rejected`)
  })
}

async function priceImport(server: BenchServer) {
  const database = await server.create('prices')
  try {
    return await measurePriceImport(database, server.dir, options.quick ? IMPORT_ROWS / 10 : IMPORT_ROWS, say)
  } finally {
    await database.close()
  }
}

async function measureReads(server: BenchServer, database: BenchDatabase): Promise<{ workloads: WorkloadFigures[]; start: StartFigures }> {
  const workloads = await readWorkloads(database.ctx.db)
  const { node, start } = await startNode(database, workloads.find((workload) => workload.id === '1')!)
  say(`first right answer after ${Math.round(start.firstAnswerMs)} ms, ${Math.round(start.memoryMb)} MB`)
  const plain = await startServer('bench/plain-server.ts', [database.url])
  const figures: WorkloadFigures[] = []
  for (const workload of workloads.filter(({ id }) => chosen(id))) {
    figures.push(await measureWorkload(workload, { node, plain }, database, server.dir))
  }
  if (figures.length > 0) start.memoryAfterLoadMb = residentMb(node.pid)
  await Promise.all([node.stop(), plain.stop()])
  return { workloads: figures, start }
}

/** Starts the node as its users do and waits for an answer that is right. */
async function startNode(database: BenchDatabase, detail: Workload): Promise<{ node: Server; start: StartFigures }> {
  const count = async (table: 'items' | 'prices') =>
    Number((await database.ctx.db.kysely.selectFrom(table).select((eb) => eb.fn.countAll().as('n')).executeTakeFirstOrThrow()).n)
  const counts = { items: await count('items'), prices: await count('prices') }
  const started = performance.now()
  const node = await startServer('src/main.ts', ['api'], { DATABASE_URL: database.url, PORT: '0', RATE_LIMITS: 'off', LOG_LEVEL: 'warn' })
  await answerOf(node, detail, database, detail.paths[0]!)
  const firstAnswerMs = performance.now() - started
  return { node, start: { ...counts, firstAnswerMs, memoryMb: residentMb(node.pid), memoryAfterLoadMb: null } }
}

/**
 * Measures ours and bare in turns, since whatever else the machine does then disturbs both alike. The plain server comes
 * after them: what it has not answered when its time is over keeps the core busy for a while.
 */
async function measureWorkload(
  workload: Workload,
  { node, plain }: { node: Server; plain: Server },
  database: BenchDatabase,
  dir: string,
): Promise<WorkloadFigures> {
  const bytes = await checkAnswers(workload, node, plain, database)
  const bare = await startServer('bench/bare-server.ts', [String(bytes)])
  const common = { key: database.keys[workload.plan], pathsFile: writePaths(dir, workload.id, workload.paths) }
  const targets = { ours: node, bare, plain }
  const figures: Record<keyof typeof targets, LoadFigures[]> = { ours: [], bare: [], plain: [] }
  const once = async (name: keyof typeof targets) => figures[name].push(await measure({ ...targets[name], ...common }, seconds))
  for (const server of [bare, node]) await measure({ ...server, ...common }, seconds)
  for (let round = 0; round < rounds; round += 1) for (const name of ['bare', 'ours'] as const) await once(name)
  await bare.stop()
  for (let round = 0; round < rounds; round += 1) await once('plain')
  // Answered last: then the core is free again.
  await answerOf(plain, workload, database, workload.paths[0]!)
  const shares = figures.ours.map((ours, i) => ours.requestsPerSecond / figures.bare[i]!.requestsPerSecond)
  const shareOfBare = median(shares)
  const ours = medians(figures.ours)
  say(`${workload.id} ${workload.title}: ${Math.round(ours.requestsPerSecond)} req/s, ${shareOfBare.toFixed(2)} of bare`)
  const { id, title, goal } = workload
  return { id, title, bytes, ours, bare: medians(figures.bare), plain: medians(figures.plain), shareOfBare, goal }
}

/** Checks answers from all over the workload, totals against SQL, and gives their mean size in bytes. */
async function checkAnswers(workload: Workload, node: Server, plain: Server, database: BenchDatabase): Promise<number> {
  const step = Math.max(1, Math.floor(workload.paths.length / CHECKED_ANSWERS))
  const paths = workload.paths.filter((_, i) => i % step === 0)
  let size = 0
  for (const path of paths) {
    const { total, bytes } = await answerOf(node, workload, database, path)
    size += bytes
    const counted = workload.exactTotal ? (await answerOf(plain, workload, database, path)).total : total
    if (total !== counted) throw new Error(`Workload ${workload.id}, ${path}: total ${total}, but the database counts ${counted}`)
  }
  return Math.round(size / paths.length)
}

async function answerOf(server: Server, workload: Workload, database: BenchDatabase, path: string) {
  const response = await fetch(`${server.url}${path}`, {
    headers: { authorization: `Bearer ${database.keys[workload.plan]}`, 'accept-encoding': 'identity' },
  })
  const text = await response.text()
  return { ...checkAnswer(workload, path, response.status, text), bytes: Buffer.byteLength(text) }
}

function medians(rows: LoadFigures[]): LoadFigures {
  const of = (field: keyof LoadFigures) => median(rows.map((row) => row[field]))
  return { requestsPerSecond: of('requestsPerSecond'), cpuMicros: of('cpuMicros'), p50: of('p50'), p99: of('p99'), max: of('max') }
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]!
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}
