// `node bench/webhooks/feed.ts`: orders and expiries of many sellers while clients poll their feeds; checks what each client reads, in which order,
// and how long after its commit.
import { readFileSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { createAccount } from '#accounts/create-account.ts'
import { createKey } from '#accounts/keys/create-key.ts'
import { call } from '#core/verb.ts'
import { openScene, pause, percentile, SECRET_KEY, startProcess } from './scene.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3600' },
    waiting: { type: 'string', default: '200' },
    sellers: { type: 'string', default: '50' },
    orders: { type: 'string', default: '20' },
    port: { type: 'string', default: '24180' },
  },
})
const [seconds, waiting, sellers, ordersASecond, port] = [values.seconds, values.waiting, values.sellers, values.orders, values.port].map(Number) as [
  number,
  number,
  number,
  number,
  number,
]
const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const OPERATOR_TOKEN = 'operator token of the webhook bench'
const WRITERS = 4
const EXPIRE_EVERY_MS = 2_000
const SAMPLE_MS = 5_000
const LISTINGS_OF_A_SELLER = 20

const scene = await openScene({ track_commit_timestamp: 'on' })
const { url: databaseUrl, ctx } = scene.database
const { kysely } = ctx.db
const api = startProcess([MAIN, 'serve'], {
  DATABASE_URL: databaseUrl,
  SECRET_KEY,
  OPERATOR_TOKEN,
  RATE_LIMITS: 'off',
  PORT: String(port),
  OPERATOR_PORT: String(port + 1),
  MINTMARK_DEMO: '0',
})
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })

/** Node's own client, because the overhead of fetch would be measured, too. */
function ask<T>(to: string, credential: string, method = 'GET', body?: object): Promise<{ status: number; body: T }> {
  const text = body === undefined ? '' : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${credential}`, 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
    const request = httpRequest(to, { method, agent, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => resolve({ status: response.statusCode!, body: JSON.parse(Buffer.concat(chunks).toString()) as T }))
    })
    request.on('error', reject)
    request.end(text)
  })
}

async function operator<T>(method: string, path: string, body: object): Promise<T> {
  const answer = await ask<{ data: T }>(`http://127.0.0.1:${port + 1}/operator/v1${path}`, OPERATOR_TOKEN, method, body)
  if (answer.status >= 400) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
  return answer.body.data
}

interface Seller {
  accountId: number
  key: string
  listings: number[]
}

async function openSellers(): Promise<Seller[]> {
  const shop = { game: 'pokemon', market: 'service' }
  const category = await operator<{ id: number }>('POST', '/categories', { ...shop, ref: 'base', name: 'Base Set' })
  const items: number[] = []
  for (let i = 0; i < 50; i++) {
    const item = { ...shop, ref: `card-${i}`, name: `Card ${i}`, genre: 'single', category_id: category.id }
    items.push((await operator<{ id: number }>('POST', '/items', item)).id)
  }
  const created: Seller[] = []
  for (let i = 0; i < sellers; i++) {
    const { id: accountId } = await call(createAccount, ctx, { name: `Seller ${i}`, plan: 'plus' })
    const { key } = await call(createKey, ctx, { account_id: accountId })
    const listings: number[] = []
    for (let n = 0; n < LISTINGS_OF_A_SELLER; n++) listings.push(await openListing(accountId, items[(i + n) % items.length]!))
    created.push({ accountId, key, listings })
  }
  return created
}

async function openListing(sellerId: number, itemId: number): Promise<number> {
  const { id } = await operator<{ id: number }>('POST', '/listings', {
    seller_id: sellerId,
    item_id: itemId,
    title: 'Card',
    price: 100,
    quantity: 100_000,
  })
  await operator('POST', `/listings/${id}/approve`, {})
  return id
}

interface Read {
  id: string
  /** by the clock of this machine, which the database shares */
  atMs: number
}

interface Client {
  accountId: number
  reads: Read[]
}

let running = true
let ending = false
const problems: string[] = []

/** Reads a feed by long polling until everything has ended and no more events arrive. */
async function follow({ accountId, key }: Seller): Promise<Client> {
  const reads: Read[] = []
  let after = ''
  for (;;) {
    const last = ending
    const { status, body } = await ask<{ data: { id: string }[]; next: string }>(
      `http://127.0.0.1:${port}/api/v1/plus/events?wait=${last ? 0 : 30}&after=${after}`,
      key,
    )
    const atMs = performance.timeOrigin + performance.now()
    if (status !== 200) {
      problems.push(`a read was answered with ${status}`)
      await pause(100)
      continue
    }
    for (const { id } of body.data) reads.push({ id, atMs })
    after = body.next
    if (last && body.data.length === 0) return { accountId, reads }
  }
}

const residentMb = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${api.process.pid}/status`, 'utf8'))![1]) / 1024

await api.ready
const all = await openSellers()
const clients = Array.from({ length: waiting }, (_, i) => follow(all[i % all.length]!))

let orders = 0
const random = <T>(list: T[]): T => list[Math.floor(Math.random() * list.length)]!
const writers = Array.from({ length: WRITERS }, async (_, writer) => {
  for (let i = 1; running; i++) {
    const begun = performance.now()
    // Lines of one or two sellers.
    const lines = [random(random(all).listings), ...(i % 3 === 0 ? [random(random(all).listings)] : [])].map((listing) => ({
      listing_id: listing,
      quantity: 1,
    }))
    // An order for a listing whose period has just ended is rejected.
    if (await operator('POST', '/orders', { order_id: writer * 10_000_000 + i, lines }).catch(() => null)) orders += 1
    await pause(Math.max(0, (1_000 * WRITERS) / ordersASecond - (performance.now() - begun)))
  }
})
const expiring = (async () => {
  while (running) {
    await pause(EXPIRE_EVERY_MS)
    // Ends the periods of some listings; their owners publish expired ones again.
    await sql`update listings set expires_at = now() where id in (select id from listings where status = 'active' order by random() limit 5)`.execute(
      kysely,
    )
    const expired = await kysely.selectFrom('listings').select(['id', 'seller_id']).where('status', '=', 'expired').execute()
    for (const { id, seller_id: sellerId } of expired) {
      const { key } = all.find(({ accountId }) => accountId === sellerId)!
      await ask(`http://127.0.0.1:${port}/api/v1/plus/listings/${id}/status?action=publish`, key, 'POST', {})
      await operator('POST', `/listings/${id}/approve`, {}).catch(() => null)
    }
  }
})()

const memory: number[] = []
const started = performance.now()
while (performance.now() - started < seconds * 1_000) {
  await pause(SAMPLE_MS)
  memory.push(residentMb())
  const elapsed = Math.round((performance.now() - started) / 1_000)
  process.stderr.write(`\r${elapsed} s, ${orders} orders, ${Math.round(memory.at(-1)!)} MB`)
}
running = false
await Promise.all([...writers, expiring])
// Once the last polls are empty, everything committed has been read.
ending = true
const followed = await Promise.all(clients)

const { rows: placed } = await sql<{ account_id: number; position: number; event_id: number; kind: string; committed_ms: number }>`
  select p.account_id, p.position, p.event_id, e.kind, extract(epoch from pg_xact_commit_timestamp(p.xmin))::float8 * 1000 as committed_ms
  from event_positions p join webhook_events e on e.id = p.event_id order by p.account_id, p.position`.execute(kysely)
const { rows: counts } = await sql<{ sales: number; expiries: number }>`
  select (select count(*)::int from sales) as sales,
         (select count(*)::int from audit_log where action = 'listing.expire') as expiries`.execute(kysely)
const feeds = Map.groupBy(placed, ({ account_id: accountId }) => accountId)
let outOfCommitOrder = 0
for (const feed of feeds.values()) feed.forEach((one, i) => (outOfCommitOrder += i > 0 && one.committed_ms < feed[i - 1]!.committed_ms ? 1 : 0))
let wrongFeeds = 0
const latencies: number[] = []
for (const { accountId, reads } of followed) {
  const feed = feeds.get(accountId) ?? []
  if (reads.map(({ id }) => id).join() !== feed.map(({ event_id: id }) => `evt_${id}`).join()) wrongFeeds += 1
  const committed = new Map(feed.map((one) => [`evt_${one.event_id}`, one.committed_ms]))
  for (const { id, atMs } of reads) latencies.push(atMs - committed.get(id)!)
}
const ofKind = (kind: string) => placed.filter((one) => one.kind === kind).length
const tenth = Math.max(1, Math.floor(memory.length / 10))
const meanOf = (list: number[]) => Math.round(list.reduce((sum, value) => sum + value, 0) / list.length)
const round = (ms: number) => Math.round(ms * 10) / 10
const figures = {
  seconds,
  waiting,
  sellers,
  orders,
  sales: counts[0]!.sales,
  saleEvents: ofKind('sale'),
  expiries: counts[0]!.expiries,
  expireEvents: ofKind('expire'),
  outOfCommitOrder,
  clientsThatReadAnythingElse: wrongFeeds,
  reads: latencies.length,
  fromCommitToAnswerMs: {
    p50: round(percentile(latencies, 0.5)),
    p95: round(percentile(latencies, 0.95)),
    p99: round(percentile(latencies, 0.99)),
    longest: round(percentile(latencies, 1)),
  },
  over50Ms: latencies.filter((ms) => ms > 50).length,
  memoryMb: { afterWarmUp: meanOf(memory.slice(tenth, 2 * tenth)), atTheEnd: meanOf(memory.slice(-tenth)), peak: Math.round(Math.max(...memory)) },
  problems: problems.slice(0, 5),
}
console.log(`\n${JSON.stringify(figures, null, 2)}`)
agent.destroy()
await api.kill('SIGTERM')
await scene.close()
const complete = figures.sales === figures.saleEvents && figures.expiries === figures.expireEvents
process.exitCode = complete && wrongFeeds === 0 && outOfCommitOrder === 0 && problems.length === 0 ? 0 : 1
