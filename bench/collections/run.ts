// Workload 8 of the benchmark (records added, beside bare node:http), and long lists: seconds, memory, what arrives.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { sql } from 'kysely'
import { createAccount } from '#accounts/create-account.ts'
import { createKey } from '#accounts/create-key.ts'
import { createCollection } from '#collections/create-collection.ts'
import { call } from '#core/verb.ts'
import { type BenchDatabase, startDatabaseServer } from '../database.ts'
import { copyGeneratedData } from '../generated-data.ts'
import { measure, writePaths } from '../load.ts'
import { pinProcess, type Server, SERVER_CORE, startServer } from '../processes.ts'

const ITEMS = 25_000
const ROUNDS = 3
const AT_ONCE = 50
const ADD_SCRIPT = fileURLToPath(new URL('add.lua', import.meta.url))

const options = new Command('bench collections')
  .option('--seconds <n>', 'length of a round', '3')
  .option('--records <n>', 'records of the long list', '100000')
  .parse()
  .opts<{ seconds: string; records: string }>()

const server = await startDatabaseServer()
try {
  const database = await server.create('collections')
  await copyGeneratedData(database.ctx.db, ITEMS)
  const account = await call(createAccount, database.ctx, { name: 'Collector', plan: 'plus' })
  const { key } = await call(createKey, database.ctx, { account_id: account.id })
  pinProcess(server.pid, SERVER_CORE)
  const env = { DATABASE_URL: database.url, PORT: '0', RATE_LIMITS: 'off', LOG_LEVEL: 'warn' }
  const node = await startServer('src/main.ts', ['api'], env)
  try {
    const open = (name: string) => call(createCollection, database.ctx, { account_id: account.id, name })
    await measureLongList(node, database, key, (await open('Long')).id)
    await measureConcurrentAdds(node, key, (await open('At once')).id)
    await measureAdds(node, key, (await open('Load')).id)
  } finally {
    await node.stop()
    await database.close()
  }
} finally {
  await server.close()
}

/** Workload 8: 50 connections add records; then the count and the newest record are as they must be. */
async function measureAdds(node: Server, key: string, collectionId: number): Promise<void> {
  const lines = Array.from({ length: 2_000 }, (_, i) => {
    const body = { item_id: 1 + ((i * 7) % ITEMS), quantity: 1 + (i % 5), purchase_price: 12.5, note: `record ${i}` }
    return `/api/v1/plus/collections/${collectionId}/items\t${JSON.stringify(body)}`
  })
  const bare = await startServer('bench/bare-server.ts', ['200'])
  const load = { key, pathsFile: writePaths(server.dir, 'add', lines), script: ADD_SCRIPT }
  const seconds = Number(options.seconds)
  await measure({ url: node.url, pid: node.pid, ...load }, seconds)
  const rounds: { share: number; line: string }[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const theirs = await measure({ url: bare.url, ...load }, seconds)
    const ours = await measure({ url: node.url, pid: node.pid, ...load }, seconds)
    const share = ours.requestsPerSecond / theirs.requestsPerSecond
    const cpu = `${ours.cpuMicros.toFixed(0)} µs of the node's processor`
    rounds.push({
      share,
      line: `${Math.round(ours.requestsPerSecond)} adds/s of ${Math.round(theirs.requestsPerSecond)} bare (${share.toFixed(3)}), ${cpu}, p50 ${ours.p50} ms, p99 ${ours.p99} ms`,
    })
  }
  await bare.stop()
  print(`adding, ${rounds.toSorted((a, b) => a.share - b.share)[1]!.line}`)
  const added = await add(node, key, collectionId, 'the last one')
  const listed = await list(node, key, collectionId)
  const counted = await countOf(node, key, collectionId)
  if (counted !== listed.records || listed.newest !== added)
    throw new Error(`counted ${counted}, listed ${listed.records}, newest ${listed.newest}, added ${added}`)
  print(`then the list shows all ${counted}, newest first: ${listed.seconds.toFixed(2)} s`)
}

/** A list of very many records, read whole, and the node's memory while it is sent. */
async function measureLongList(node: Server, { ctx }: BenchDatabase, key: string, collectionId: number): Promise<void> {
  const records = Number(options.records)
  await sql`
    insert into collection_items (collection_id, item_id, grade_id, quantity, purchase_price, purchase_date, card_uniq_id, note)
    select ${collectionId}, 1 + n * 7 % ${ITEMS}, 3, 1 + n % 5, 12.5, date '2026-01-01' + n % 300, 'CERT-' || n, 'Record ' || n || ' of a long list'
    from generate_series(1, ${records}::int) n`.execute(ctx.db.kysely)
  await sql`update collections set items_count = ${records} where id = ${collectionId}`.execute(ctx.db.kysely)
  await sql`vacuum analyze collection_items`.execute(ctx.db.kysely)
  for (const query of ['', '?with_value=1']) {
    const before = residentPeakMb(node.pid)
    const { seconds, bytes, records: listed } = await list(node, key, collectionId, query)
    if (listed !== records) throw new Error(`${listed} of ${records} records were listed`)
    const peak = residentPeakMb(node.pid)
    print(
      `list${query} of ${records} records: ${seconds.toFixed(2)} s, ${(bytes / 1e6).toFixed(1)} MB; peak memory of the node ${before} → ${peak} MB`,
    )
  }
  const started = performance.now()
  await countOf(node, key, collectionId)
  print(`list of collections with counts: ${(performance.now() - started).toFixed(1)} ms`)
}

async function measureConcurrentAdds(node: Server, key: string, collectionId: number): Promise<void> {
  const started = performance.now()
  await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => add(node, key, collectionId, String(i))))
  const took = performance.now() - started
  print(`${AT_ONCE} adds at once: ${took.toFixed(0)} ms, count +${await countOf(node, key, collectionId)}`)
}

async function add(node: Server, key: string, collectionId: number, note: string): Promise<number> {
  const response = await fetch(`${node.url}/api/v1/plus/collections/${collectionId}/items`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ item_id: 1, note }),
  })
  if (response.status !== 201) throw new Error(`adding answered ${response.status}: ${await response.text()}`)
  return ((await response.json()) as { data: { id: number } }).data.id
}

async function list(node: Server, key: string, collectionId: number, query = '') {
  const started = performance.now()
  const response = await fetch(`${node.url}/api/v1/plus/collections/${collectionId}/items${query}`, {
    headers: { authorization: `Bearer ${key}`, 'accept-encoding': 'identity' },
  })
  const text = await response.text()
  const seconds = (performance.now() - started) / 1_000
  const { data } = JSON.parse(text) as { data: { id: number }[] }
  return { seconds, bytes: text.length, records: data.length, newest: data[0]?.id }
}

async function countOf(node: Server, key: string, collectionId: number): Promise<number> {
  const response = await fetch(`${node.url}/api/v1/plus/collections`, { headers: { authorization: `Bearer ${key}` } })
  const { data } = (await response.json()) as { data: { id: number; items_count: number }[] }
  return data.find((collection) => collection.id === collectionId)!.items_count
}

/** Most memory that a process ever held, in MB. */
function residentPeakMb(pid: number): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!
  return Math.round(Number(kilobytes) / 1_024)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
