// Workload 5 of the benchmark: GraphQL beside bare node:http, and the dearest queries that pass the limits.
import { fileURLToPath } from 'node:url'
import { Command, Option } from 'commander'
import { sql } from 'kysely'
import { type BenchDatabase, startDatabaseServer } from '../database.ts'
import { copyGeneratedData } from '../generated-data.ts'
import { measure, writePaths } from '../load.ts'
import { pinProcess, type Server, SERVER_CORE, startServer } from '../processes.ts'
import { hasRealData, importRealData } from '../real-data.ts'
import { DEAREST } from './dearest.ts'

interface Options {
  data: 'real' | 'generated'
  items: string
  seconds: string
  only: string
  profile: boolean
}

interface Workload {
  name: string
  bodies: string[]
}

const ROUNDS = 3
const PAGES = 100
const POST_SCRIPT = fileURLToPath(new URL('post.lua', import.meta.url))
const ITEMS_PAGE = `query Page($sortBy: String, $game: String, $after: String) {
  items(first: 20, sortBy: $sortBy, game: $game, after: $after) {
    nodes { id name code category { id name parent { id name } } prices { market label price currency updatedAt } }
    pageInfo { hasNextPage endCursor }
  }
}`
const WALK = `query Walk($id: ID!) {
  category(id: $id) { id name children { id name items(first: 5) { nodes { id name code } pageInfo { hasNextPage endCursor } } } }
}`

const options = new Command('bench graphql')
  .addOption(new Option('--data <data>', 'what is in the database').choices(['real', 'generated']).default(hasRealData() ? 'real' : 'generated'))
  .option('--items <n>', 'how many items are generated', '40000')
  .option('--seconds <n>', 'length of a round', '3')
  .option('--only <word>', 'workloads whose name has this word', '')
  .option('--profile', 'write a CPU profile of the node into the current folder', false)
  .parse()
  .opts<Options>()

const server = await startDatabaseServer()
try {
  const database = await server.create('graphql')
  if (options.data === 'real') await importRealData(database.ctx, ({ file, rows }) => say(`imported ${file}: ${rows} rows`))
  else await copyGeneratedData(database.ctx.db, Number(options.items))
  pinProcess(server.pid, SERVER_CORE)
  const env = {
    DATABASE_URL: database.url,
    PORT: '0',
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'warn',
    ...(options.profile && { NODE_OPTIONS: '--cpu-prof' }),
  }
  const node = await startServer('src/main.ts', ['api'], env)
  try {
    for (const workload of await workloads(node, database)) await measureWorkload(node, database, workload, server.dir)
    await measureDearest(node, database)
  } finally {
    await node.stop()
    await database.close()
  }
} finally {
  await server.close()
}

/** Pages of 20 items under several sorts and filters, and walks from every category that has children. */
async function workloads(node: Server, database: BenchDatabase): Promise<Workload[]> {
  const pages: string[] = []
  for (const variables of [{}, { sortBy: 'price' }, { game: 'pokemon' }, { sortBy: 'updated_at', game: 'onepiece' }]) {
    let after: string | null = null
    for (let page = 0; page < PAGES; page += 1) {
      const body: string = JSON.stringify({ query: ITEMS_PAGE, variables: { ...variables, after } })
      pages.push(body)
      const { data } = (await answerOf(node, database, body)) as { data: { items: { pageInfo: { hasNextPage: boolean; endCursor: string } } } }
      if (!data.items.pageInfo.hasNextPage) break
      after = data.items.pageInfo.endCursor
    }
  }
  const { rows } = await sql<{ id: number }>`
    select parent_id as id from categories where parent_id is not null group by parent_id having count(*) <= 40`.execute(database.ctx.db.kysely)
  const walks = rows.map(({ id }) => JSON.stringify({ query: WALK, variables: { id } }))
  return [
    { name: '20 items, category and parent, prices', bodies: pages },
    { name: 'category, children, items', bodies: walks },
  ].filter(({ name }) => name.includes(options.only))
}

async function measureWorkload(node: Server, database: BenchDatabase, { name, bodies }: Workload, dir: string): Promise<void> {
  let bytes = 0
  for (const body of bodies) bytes += JSON.stringify(await answerOf(node, database, body)).length
  const bare = await startServer('bench/bare-server.ts', [String(Math.round(bytes / bodies.length))])
  const load = { key: database.keys.professional, pathsFile: writePaths(dir, 'graphql', bodies), script: POST_SCRIPT }
  const seconds = Number(options.seconds)
  await measure({ url: node.url, ...load }, seconds)
  const shares: { share: number; line: string }[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const theirs = await measure({ url: bare.url, ...load }, seconds)
    const ours = await measure({ url: node.url, ...load }, seconds)
    const share = ours.requestsPerSecond / theirs.requestsPerSecond
    const figures = `${Math.round(ours.requestsPerSecond)} req/s of ${Math.round(theirs.requestsPerSecond)} bare, p50 ${ours.p50} ms, p99 ${ours.p99} ms`
    shares.push({ share, line: `${share.toFixed(3)} of bare, ${figures}` })
  }
  await bare.stop()
  const middle = shares.toSorted((a, b) => a.share - b.share)[Math.floor(ROUNDS / 2)]!
  print(`${name} (${Math.round(bytes / bodies.length)} bytes): ${middle.line}`)
}

/** Times the dearest queries that pass the limits of the largest plan that has a key here. */
async function measureDearest(node: Server, database: BenchDatabase): Promise<void> {
  const account = await sql<{ id: number }>`update accounts set plan = 'enterprise' where plan = 'professional' returning id`.execute(database.ctx.db.kysely)
  await sql`with change as (insert into change_log (kind, ids) values ('accounts', ${account.rows.map(({ id }) => id)}) returning 1)
    select pg_notify('mintmark', '') from change`.execute(database.ctx.db.kysely)
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  // With one field that fails, graphql-js answers in place of the compiled form.
  const failing = Object.entries(DEAREST).map(([name, query]) => [`${name}, and an error`, query.replace(/}$/, 'e: item(id: "x") { id } }')] as const)
  for (const [name, query] of [...Object.entries(DEAREST), ...failing]) {
    const times: number[] = []
    let bytes = 0
    for (let i = 0; i < 3; i += 1) {
      const started = performance.now()
      const text = await textOf(node, database, JSON.stringify({ query }))
      times.push(performance.now() - started)
      bytes = text.length
      if (i === 0 && !text.includes('"data"')) print(`  ${text.slice(0, 200)}`)
    }
    print(`${name}: ${times.map((time) => time.toFixed(0)).join(', ')} ms, ${bytes} bytes`)
  }
}

async function textOf(node: Server, database: BenchDatabase, body: string): Promise<string> {
  const headers = { authorization: `Bearer ${database.keys.professional}`, 'content-type': 'application/json', 'accept-encoding': 'identity' }
  return (await fetch(`${node.url}/graphql`, { method: 'POST', headers, body })).text()
}

async function answerOf(node: Server, database: BenchDatabase, body: string): Promise<object> {
  const answer = JSON.parse(await textOf(node, database, body)) as { errors?: unknown }
  if (answer.errors) throw new Error(`A query failed: ${JSON.stringify(answer.errors)}`)
  return answer
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}
