// `node bench/webhooks/faults.ts`: deliveries and their delays while receivers hang, the database is killed, or the receiver is unreachable.
import { parseArgs } from 'node:util'
import { type Child, drained, openReceiver, openScene, openSeller, pause, percentile, sell, startWorker } from './scene.ts'

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '10' } } })
const seconds = Number(values.seconds)
const RATE = 50
const HANGING = 100
/** Time the receiver is unreachable: a tenth of 4 minutes, with a tenth of the delays of 30 s and 5 min. */
const AWAY_MS = 24_000
const TENTH = { WEBHOOK_RETRY_DELAYS: '3s,30s' }

const scene = await openScene()
const { url, ctx } = scene.database
const { db } = ctx
const committed = new Map<number, number>()
const latencies = new Map<number, number>()
let orders = 0
const receiver = await openReceiver(({ orderId, atMs }) => {
  const since = committed.get(orderId)
  // Unknown if the commit's response is still on its way: the delay is then 0.
  if (!latencies.has(orderId)) latencies.set(orderId, since === undefined ? 0 : atMs - since)
})
const healthy = await openSeller(scene.database, receiver.url)
const figures: Record<string, unknown> = {}
let worker: Child = startWorker(url)
await worker.ready
await whileReceiversHang()
await whileDatabaseDies()
await whileReceiverIsAway()
console.log(JSON.stringify(figures, null, 2))
await worker.kill('SIGTERM')
await scene.close()

async function sellOne(): Promise<void> {
  orders += 1
  const orderId = orders
  await sell(db, healthy, [orderId])
  committed.set(orderId, performance.now())
}

/** Sells at a steady rate without waiting for sales to complete. @returns number of rejected sales */
async function sellSteadily(): Promise<number> {
  let refused = 0
  const started = performance.now()
  for (let i = 0; i < RATE * seconds; i += 1) {
    await pause(Math.max(0, started + (i * 1_000) / RATE - performance.now()))
    void sellOne().catch(() => (refused += 1))
  }
  return refused
}

async function whileReceiversHang(): Promise<void> {
  const dead = await openReceiver(() => {}, { hangs: true })
  const hanging = await Promise.all(Array.from({ length: HANGING }, () => openSeller(scene.database, dead.url)))
  for (const seller of hanging)
    await sell(
      db,
      seller,
      Array.from({ length: 20 }, () => (orders += 1)),
    )
  await pause(1_000)
  const from = orders
  await sellSteadily()
  await pause(2_000)
  const times = Array.from({ length: orders - from }, (_, i) => latencies.get(from + i + 1) ?? Infinity)
  report(`at ${RATE} a second while ${HANGING} receivers hang`, {
    p50Ms: round(percentile(times, 0.5)),
    p99Ms: round(percentile(times, 0.99)),
    maxMs: round(Math.max(...times)),
    sales: times.length,
  })
  await db.kysely.updateTable('webhooks').set({ is_active: false }).where('account_id', 'in', hanging).execute()
  await dead.close()
  await drained(db)
}

async function whileDatabaseDies(): Promise<void> {
  const from = orders
  const killing = pause((seconds * 1_000) / 2).then(() => process.kill(scene.server.pid, 'SIGKILL'))
  const refused = await sellSteadily()
  await killing
  await pause(1_000)
  await drained(db)
  const stored = await db.kysely.selectFrom('webhook_events').select('body').where('account_id', '=', healthy).execute()
  const ids = stored.map(({ body }) => (JSON.parse(body) as { data: { order_id: number } }).data.order_id).filter((id) => id > from)
  const times = ids.map((id) => latencies.get(id) ?? Infinity)
  const lost = times.filter((time) => time === Infinity).length
  report('database killed in the middle', { committed: ids.length, refused, lost, longestMs: round(Math.max(...times)) })
}

async function whileReceiverIsAway(): Promise<void> {
  await worker.kill('SIGTERM')
  worker = startWorker(url, TENTH)
  await worker.ready
  const { port } = receiver
  await receiver.close()
  const from = orders
  const started = performance.now()
  while (performance.now() - started < AWAY_MS) {
    await sellOne()
    await pause(250)
  }
  const seen = new Set<number>()
  const back = await openReceiver(({ orderId }) => seen.add(orderId), { port })
  await drained(db)
  const sold = orders - from
  report('receiver away for 4 minutes (all times a tenth)', { sold, arrived: seen.size, lost: sold - seen.size })
  await back.close()
}

function report(name: string, figure: unknown): void {
  figures[name] = figure
  console.error(name, JSON.stringify(figure))
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
