// `node bench/webhooks/kill.ts`: records orders while API and worker are killed with -9, and counts the deliveries.
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { drained, openReceiver, openScene, openSeller, pause, type Post, SECRET_KEY, startProcess, startWorker } from './scene.ts'

const { values } = parseArgs({
  options: { sales: { type: 'string', default: '1000' }, kills: { type: 'string', default: '100' } },
})
const sales = Number(values.sales)
const kills = Number(values.kills)
const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const OPERATOR_TOKEN = 'operator token of the webhook bench'
const RECEIVER_DELAY_MS = 25
const LIFE_MS = 900

const scene = await openScene()
const { url, ctx } = scene.database
const posts: Post[] = []
const receiver = await openReceiver((post) => posts.push(post), { delayMs: RECEIVER_DELAY_MS })
const sellerId = await openSeller(scene.database, receiver.url)
const port = receiver.port + 1
const settings = { DATABASE_URL: url, SECRET_KEY, OPERATOR_PORT: String(port), OPERATOR_TOKEN }
const startApi = () => startProcess([MAIN, 'operator'], settings)

/** Retries until there is a response, because the API may be down at any time. */
async function operator<T>(method: string, path: string, body: object): Promise<T> {
  for (;;) {
    try {
      const response = await fetch(`http://127.0.0.1:${port}/operator/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      const answer = (await response.json()) as { data: T; error?: object }
      if (response.ok) return answer.data
      if (response.status < 500) throw new Error(`${path}: ${JSON.stringify(answer.error)}`)
    } catch (error) {
      // fetch throws a TypeError if there is no response.
      if (!(error instanceof TypeError) && !(error instanceof SyntaxError)) throw error
    }
    await pause(20)
  }
}

async function openListing(): Promise<number> {
  const shop = { game: 'pokemon', market: 'service' }
  const category = await operator<{ id: number }>('POST', '/categories', { ...shop, ref: 'base', name: 'Base Set' })
  const fields = { ...shop, ref: 'charizard', name: 'Charizard', genre: 'single', category_id: category.id }
  const item = await operator<{ id: number }>('POST', '/items', fields)
  const offer = { seller_id: sellerId, item_id: item.id, title: 'Charizard', price: 100, quantity: sales }
  const listing = await operator<{ id: number }>('POST', '/listings', offer)
  await operator('POST', `/listings/${listing.id}/approve`, {})
  return listing.id
}

let api = startApi()
let worker = startWorker(url)
await api.ready
const listingId = await openListing()
let acknowledged = 0
let killed = 0
const selling = (async () => {
  for (let orderId = 1; orderId <= sales; orderId++) {
    await operator('POST', '/orders', { order_id: orderId, lines: [{ listing_id: listingId, quantity: 1 }] })
    acknowledged += 1
    // Paces the kills, so that sales continue until the last one.
    while (killed < kills && acknowledged / sales > (killed + 1) / kills) await pause(5)
  }
})()
const started = performance.now()
while (killed < kills) {
  await Promise.all([worker.ready, api.ready])
  await pause(Math.random() * LIFE_MS)
  await Promise.all([worker.kill('SIGKILL'), api.kill('SIGKILL')])
  killed += 1
  api = startApi()
  worker = startWorker(url)
  process.stderr.write(`\r${killed} kills, ${acknowledged} sales, ${posts.length} posts`)
}
const restarted = performance.now()
await selling
await drained(ctx.db)
const drainedMs = performance.now() - restarted
await Promise.all([worker.kill('SIGTERM'), api.kill('SIGTERM')])

const perEvent = new Map<string, number>()
for (const { webhookId } of posts) perEvent.set(webhookId, (perEvent.get(webhookId) ?? 0) + 1)
const arrived = new Set(posts.map((post) => post.orderId))
const { rows: sold } = await sql<{ id: number }>`select distinct order_id as id from sales`.execute(ctx.db.kysely)
const lost = sold.filter(({ id }) => !arrived.has(id))
const most = Math.max(...perEvent.values())
const { rows: attempts } = await sql<{ cut_off: number; longest: number }>`
  select count(*) filter (where a.error is not null)::int as cut_off,
         max(extract(epoch from a.finished_at - v.created_at)) filter (where a.success)::float8 as longest
  from webhook_attempts a join webhook_events v on v.id = a.event_id`.execute(ctx.db.kysely)
const figures = {
  kills,
  seconds: Math.round((performance.now() - started) / 1000),
  salesAcknowledged: acknowledged,
  salesCommitted: sold.length,
  eventsLost: lost.length,
  posts: posts.length,
  duplicates: posts.length - perEvent.size,
  mostPostsOfAnEvent: most,
  attemptsCutOff: attempts[0]!.cut_off,
  longestFromSaleToSuccessSeconds: Math.round(attempts[0]!.longest * 10) / 10,
  allArrivedAfterLastRestartSeconds: Math.round(drainedMs / 100) / 10,
}
console.log(`\n${JSON.stringify(figures, null, 2)}`)
await receiver.close()
await scene.close()
process.exitCode = lost.length === 0 && most <= 3 && sold.length === sales ? 0 : 1
