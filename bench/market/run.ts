// Workloads 6 and 7 of the benchmark: listings searched with everything, and own prices changed, each after its fsync;
// beside them start, memory per listing, and how many commits the changes took.
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { sql } from 'kysely'
import { createAccount } from '#accounts/create-account.ts'
import { createKey } from '#accounts/create-key.ts'
import { call } from '#core/verb.ts'
import { type BenchDatabase, startDatabaseServer } from '../database.ts'
import { copyGeneratedData } from '../generated-data.ts'
import { type LoadFigures, measure, writePaths } from '../load.ts'
import { pinProcess, residentMb, runToEnd, type Server, SERVER_CORE, startServer } from '../processes.ts'
import { randomNumbers } from '../random.ts'
import { generateListings } from './listings.ts'

const PATCH_SCRIPT = fileURLToPath(new URL('patch.lua', import.meta.url))
const ROUNDS = 3
const FLAGS = 'with_item=1&with_pc=1&with_average=1&with_last_sales=1'
const WORDS = 'ember,serpent,golem,falcon,fox,beetle,stag,viper,wolf,moth,knight,lynx,turtle,sprite,boar,heron,owl,bear,radiant,golden,vmax,parallel'.split(',')

const options = new Command('bench market')
  .option('--listings <n>', 'how many listings', '100000')
  .option('--items <n>', 'over how many items', '25000')
  .option('--seconds <n>', 'length of a round', '3')
  .option('--only <workload>', '6 or 7')
  .parse()
  .opts<{ listings: string; items: string; seconds: string; only?: string }>()
const listings = Number(options.listings)
const seconds = Number(options.seconds)

interface Search {
  title: string
  goal: string
  paths: string[]
}

const server = await startDatabaseServer()
try {
  const database = await server.create('market')
  await copyGeneratedData(database.ctx.db, Number(options.items))
  const account = await call(createAccount, database.ctx, { name: 'Bench seller', plan: 'plus' })
  const { key } = await call(createKey, database.ctx, { account_id: account.id })
  await generateListings(database.ctx.db, account.id, listings)
  const memory = JSON.parse(await runToEnd('bench/market/memory.ts', [database.url])) as Record<string, number>
  print(`${memory.listings} published of ${listings}: loaded in ${(memory.loadMs! / 1000).toFixed(2)} s, ${Math.round(memory.bytesPerListing!)} bytes each beside the catalogue`)
  pinProcess(server.pid, SERVER_CORE)
  const node = await startServer('src/main.ts', ['api'], { DATABASE_URL: database.url, PORT: '0', RATE_LIMITS: 'off', LOG_LEVEL: 'warn' })
  print(`node listening after ${(node.listeningMs / 1000).toFixed(2)} s, ${Math.round(residentMb(node.pid))} MB`)
  try {
    if (options.only !== '7') for (const search of searches()) await measureSearch(node, database, key, search)
    if (options.only !== '6') await measurePrices(node, database, key)
  } finally {
    await node.stop()
    await database.close()
  }
} finally {
  await server.close()
}

function searches(): Search[] {
  const random = randomNumbers(6)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!
  const many = (count: number, make: () => string) => Array.from({ length: count }, () => `/api/v1/plus/listings?${make()}`)
  const bounds = () => {
    const from = 1 + Math.floor(random() * 4_000)
    return `min_price=${from}&max_price=${from + 500 + Math.floor(random() * 4_000)}`
  }
  const rest = () => `game[]=pokemon&language[]=${pick(['en', 'ja'])}&sort_by=${pick(['price_low', 'price_high'])}`
  const published = Math.floor(listings * 0.95)
  const deep = () => 1 + Math.floor((random() * published) / 8 / 20)
  return [
    { title: '6 text, price range, game[], language[], sort price, all flags', goal: '0.20', paths: many(1_400, () => `search=${pick(WORDS)}&${bounds()}&${rest()}&${FLAGS}`) },
    { title: '6 the same with two words', goal: '0.20', paths: many(1_400, () => `search=${pick(WORDS)}%20${pick(['psa', 'near', 'ja', 'tr'])}&${bounds()}&${rest()}&${FLAGS}`) },
    { title: 'price range, game[], language[], sort price, all flags, no text', goal: '-', paths: many(200, () => `${bounds()}&${rest()}&${FLAGS}`) },
    { title: 'language[] and deep pages, every sort', goal: '-', paths: many(1_400, () => `language[]=${pick(['en', 'ja', 'tr'])}&page=${deep()}&sort_by=${pick(['latest', 'price_low', 'pc_multiplier_desc', 'popular'])}`) },
    { title: 'popular, pages 1 to 100', goal: '-', paths: many(100, () => `page=${1 + Math.floor(random() * 100)}`) },
  ]
}

async function measureSearch(node: Server, database: BenchDatabase, key: string, { title, goal, paths }: Search): Promise<void> {
  const bytes = await checkTotals(node, database, key, paths)
  const bare = await startServer('bench/bare-server.ts', [String(bytes)])
  const load = { key, pathsFile: writePaths(server.dir, 'listings', paths) }
  const line = await compare(node, bare, load)
  await bare.stop()
  print(`${title} (${bytes} bytes, goal ${goal}): ${line}`)
}

/** Own and bare in turns; the median round by its share. */
async function compare(node: Server, bare: Server, load: { key: string; pathsFile: string; script?: string }): Promise<string> {
  await measure({ url: node.url, pid: node.pid, ...load }, seconds)
  const rounds: { ours: LoadFigures; share: number; bare: number }[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const theirs = await measure({ url: bare.url, ...load }, seconds)
    const ours = await measure({ url: node.url, pid: node.pid, ...load }, seconds)
    rounds.push({ ours, bare: theirs.requestsPerSecond, share: ours.requestsPerSecond / theirs.requestsPerSecond })
  }
  const { ours, bare: theirs, share } = rounds.toSorted((a, b) => a.share - b.share)[1]!
  const rate = `${Math.round(ours.requestsPerSecond)}/s of ${Math.round(theirs)} bare (${share.toFixed(2)})`
  return `${rate}, ${ours.cpuMicros.toFixed(0)} µs of the node's processor, p50 ${ours.p50.toFixed(2)} ms, p99 ${ours.p99.toFixed(2)} ms`
}

/** Totals of some searches against SQL, and the mean size of an answer. */
async function checkTotals(node: Server, { ctx }: BenchDatabase, key: string, paths: string[]): Promise<number> {
  let bytes = 0
  const some = paths.filter((_path, i) => i % Math.ceil(paths.length / 8) === 0)
  for (const path of some) {
    const response = await fetch(`${node.url}${path}`, { headers: { authorization: `Bearer ${key}`, 'accept-encoding': 'identity' } })
    const text = await response.text()
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`)
    const { total } = (JSON.parse(text) as { pagination: { total: number } }).pagination
    const query = new URL(path, node.url).searchParams
    const words = (query.get('search') ?? '').split(' ').filter(Boolean)
    const { rows } = await sql<{ total: number }>`
      select count(*)::int as total from listings l join items i on i.id = l.item_id
      where l.status = 'active' and l.quantity > 0 and l.expires_at > now()
        and (${query.get('language[]')}::text is null or l.language = ${query.get('language[]')})
        and (${query.get('game[]')}::text is null or i.game = ${query.get('game[]')})
        and l.price between coalesce(${query.get('min_price')}::numeric, 0) and coalesce(${query.get('max_price')}::numeric, 1e9)
        and (select coalesce(bool_and(lower(l.title || ' ' || i.name) like '%' || word || '%'), true) from unnest(${words}::text[]) word)`.execute(ctx.db.kysely)
    if (rows[0]!.total !== total) throw new Error(`${path}: total ${total}, but the database counts ${rows[0]!.total}`)
    bytes += Buffer.byteLength(text)
  }
  return Math.round(bytes / some.length)
}

/** Workload 7, with the commits that PostgreSQL made meanwhile. */
async function measurePrices(node: Server, { ctx }: BenchDatabase, key: string): Promise<void> {
  const random = randomNumbers(7)
  const lines = Array.from({ length: 5_000 }, () => {
    const own = 5 * (1 + Math.floor(random() * (listings / 5)))
    return own % 20 === 7 ? null : `/api/v1/plus/listings/${own}/price\t{"price":${(1 + random() * 9_000).toFixed(2)}}`
  }).filter((line) => line !== null)
  const bare = await startServer('bench/bare-server.ts', ['120'])
  const load = { key, pathsFile: writePaths(server.dir, 'prices', lines), script: PATCH_SCRIPT }
  const line = await compare(node, bare, load)
  await bare.stop()
  print(`7 PATCH price (goal 0.20): ${line}`)
  const before = await countsOf(ctx)
  const figures = await measure({ url: node.url, pid: node.pid, ...load }, seconds)
  const after = await countsOf(ctx)
  const changes = after.versions - before.versions
  const commits = after.commits - before.commits
  print(`7 ${changes} changes in ${commits} transactions that wrote (${(changes / commits).toFixed(1)} each), ${Math.round(figures.requestsPerSecond)}/s`)
}

/** Sum of all versions, and transactions that have written: each of them took one transaction id and one fsync. */
async function countsOf({ db }: BenchDatabase['ctx']): Promise<{ versions: number; commits: number }> {
  const { rows } = await sql<{ versions: number; commits: number }>`
    select (select sum(version)::int8 from listings) as versions, pg_snapshot_xmax(pg_current_snapshot())::text::int8 as commits`.execute(db.kysely)
  return rows[0]!
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
