// `node bench/webhooks/kill.ts`: sells while seller and worker are killed with -9, and counts what arrived.
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import {
  type Child,
  drained,
  openReceiver,
  openScene,
  openSeller,
  pause,
  type Post,
  startProcess,
  startWorker,
} from './scene.ts'

const { values } = parseArgs({
  options: { sales: { type: 'string', default: '1000' }, kills: { type: 'string', default: '100' } },
})
const sales = Number(values.sales)
const kills = Number(values.kills)
const SELLER = fileURLToPath(new URL('seller.ts', import.meta.url))
const RECEIVER_DELAY_MS = 25
const LIFE_MS = 900

const scene = await openScene()
const { url, ctx } = scene.database
await sql`create table committed_sales (order_id integer primary key)`.execute(ctx.db.kysely)
const posts: Post[] = []
const receiver = await openReceiver((post) => posts.push(post), { delayMs: RECEIVER_DELAY_MS })
const accountId = await openSeller(scene.database, receiver.url)
// So that sales go on until the last kill: about one process starts a round.
const everyMs = Math.max(1, Math.floor((kills * LIFE_MS) / sales))
const startSeller = () => startProcess([SELLER, url, String(accountId), String(sales), String(everyMs)], {})

let seller: Child = startSeller()
let worker: Child = startWorker(url)
const started = performance.now()
for (let kill = 1; kill <= kills; kill++) {
  await Promise.all([worker.ready, seller.ready])
  await pause(Math.random() * LIFE_MS)
  if (kill % 2 === 0) {
    await seller.kill('SIGKILL')
    seller = startSeller()
  }
  await worker.kill('SIGKILL')
  worker = startWorker(url)
  process.stderr.write(`\r${kill} kills, ${posts.length} posts`)
}
const restarted = performance.now()
await worker.ready
const committed = sql<{ n: number }>`select count(*)::int as n from committed_sales`
while ((await committed.execute(ctx.db.kysely)).rows[0]!.n < sales) await pause(50)
await drained(ctx.db)
const drainedMs = performance.now() - restarted
await Promise.all([worker.kill('SIGTERM'), seller.kill('SIGTERM')])

const perEvent = new Map<string, number>()
for (const { webhookId } of posts) perEvent.set(webhookId, (perEvent.get(webhookId) ?? 0) + 1)
const arrived = new Set(posts.map((post) => post.orderId))
const orders = await sql<{ id: number }>`select order_id as id from committed_sales`.execute(ctx.db.kysely)
const lost = orders.rows.filter(({ id }) => !arrived.has(id))
const attempts = await sql<{ interrupted: number; longest_s: number }>`
  select count(*) filter (where error like 'interrupted%')::int as interrupted,
         (select max(extract(epoch from a.finished_at - v.created_at))::float8 from webhook_attempts a
          join webhook_events v on v.id = a.event_id where a.success) as longest_s
  from webhook_attempts`.execute(ctx.db.kysely)

console.log('')
console.log(
  JSON.stringify(
    {
      kills,
      seconds: Math.round((performance.now() - started) / 1000),
      salesCommitted: orders.rows.length,
      eventsLost: lost.length,
      posts: posts.length,
      duplicates: posts.length - perEvent.size,
      mostPostsOfAnEvent: Math.max(...perEvent.values()),
      attemptsCutOff: attempts.rows[0]!.interrupted,
      longestFromSaleToRecordedSuccessSeconds: attempts.rows[0]!.longest_s,
      emptyAfterLastRestartSeconds: Math.round(drainedMs / 100) / 10,
    },
    null,
    2,
  ),
)
await receiver.close()
await scene.close()
process.exitCode = lost.length === 0 && Math.max(...perEvent.values()) <= 3 ? 0 : 1
