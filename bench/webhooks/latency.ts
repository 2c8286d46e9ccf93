// `node bench/webhooks/latency.ts`: how soon a committed sale arrives, idle, under load and among dead receivers.
import { parseArgs } from 'node:util'
import {
  type Child,
  drained,
  openReceiver,
  openScene,
  openSeller,
  pause,
  percentile,
  sell,
  startWorker,
} from './scene.ts'

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '10' }, queued: { type: 'string', default: '10000' } },
})
const seconds = Number(values.seconds)
const queued = Number(values.queued)
const RATE = 50
const HANGING = 100
/** The receiver that is down: a tenth of 4 minutes, with a tenth of the delays of 30 s and 5 min. */
const DOWN_MS = 24_000
const TENTH = { WEBHOOK_RETRY_DELAYS: '3s,30s' }

const scene = await openScene()
const { url, ctx } = scene.database
const { db } = ctx
const committed = new Map<number, number>()
const latencies = new Map<number, number>()
let arrivals = 0
let lastArrival = 0
let orders = 0
const receiver = await openReceiver(({ orderId, atMs }) => {
  arrivals += 1
  lastArrival = atMs
  const since = committed.get(orderId)
  // Null while the commit's own answer is still on its way here: then it arrived in no time.
  if (!latencies.has(orderId)) latencies.set(orderId, since === undefined ? 0 : atMs - since)
})
const healthy = await openSeller(scene.database, receiver.url)

async function sellOne(): Promise<void> {
  orders += 1
  const orderId = orders
  await sell(db, healthy, [orderId])
  committed.set(orderId, performance.now())
}

/** Sells at a steady rate and gives the times from commit to arrival. */
async function steadily(rate: number, forSeconds: number): Promise<number[]> {
  const from = orders
  const started = performance.now()
  const selling: Promise<void>[] = []
  for (let i = 0; i < rate * forSeconds; i++) {
    const at = started + (i * 1000) / rate
    if (at > performance.now()) await pause(at - performance.now())
    selling.push(sellOne())
  }
  await Promise.all(selling)
  await drained(db)
  return Array.from({ length: orders - from }, (_, i) => latencies.get(from + i + 1) ?? Infinity)
}

const figures: Record<string, unknown> = {}
const inMs = (values: number[]) => ({
  p50Ms: round(percentile(values, 0.5)),
  p99Ms: round(percentile(values, 0.99)),
  maxMs: round(Math.max(...values)),
  n: values.length,
})
const round = (value: number) => Math.round(value * 10) / 10
function report(name: string, figure: unknown): void {
  figures[name] = figure
  console.error(name, JSON.stringify(figure))
}

let worker: Child = startWorker(url)
await worker.ready
await steadily(20, 2)
report('idle', inMs(await steadily(4, seconds)))
report('at 50 a second', inMs(await steadily(RATE, seconds)))

for (const receivers of [1, 100]) {
  await worker.kill('SIGTERM')
  const sellers =
    receivers === 1
      ? [healthy]
      : await Promise.all(Array.from({ length: receivers }, () => openSeller(scene.database, receiver.url)))
  for (const seller of sellers) {
    for (let left = queued / receivers; left > 0; left -= 1_000) {
      await sell(
        db,
        seller,
        Array.from({ length: Math.min(left, 1_000) }, () => (orders += 1)),
      )
    }
  }
  arrivals = 0
  let first = 0
  worker = startWorker(url)
  await worker.ready
  while (arrivals === 0) await pause(1)
  first = performance.now()
  await drained(db)
  report(`${queued} queued for ${receivers} receiver(s)`, {
    arrived: arrivals,
    seconds: round((lastArrival - first) / 1000),
  })
}

const dead = await openReceiver(() => {}, { hangs: true })
const hanging = await Promise.all(Array.from({ length: HANGING }, () => openSeller(scene.database, dead.url)))
for (const seller of hanging)
  await sell(
    db,
    seller,
    Array.from({ length: 20 }, () => (orders += 1)),
  )
await pause(1_000)
const among = orders
const amongStarted = performance.now()
for (let i = 0; i < RATE * seconds; i++) {
  const at = amongStarted + (i * 1000) / RATE
  if (at > performance.now()) await pause(at - performance.now())
  void sellOne()
}
await pause(2_000)
report(
  `at 50 a second while ${HANGING} receivers hang`,
  inMs(Array.from({ length: orders - among }, (_, i) => latencies.get(among + i + 1) ?? Infinity)),
)
await db.kysely.updateTable('webhooks').set({ is_active: false }).where('account_id', 'in', hanging).execute()
await dead.close()
await drained(db)

const beforeCrash = orders
const crashing = (async () => {
  await pause((seconds * 1000) / 2)
  process.kill(scene.server.pid, 'SIGKILL')
})()
let refused = 0
const crashStarted = performance.now()
for (let i = 0; i < RATE * seconds; i++) {
  const at = crashStarted + (i * 1000) / RATE
  if (at > performance.now()) await pause(at - performance.now())
  void sellOne().catch(() => (refused += 1))
}
await crashing
await pause(1_000)
await drained(db)
const stored = await db.kysely.selectFrom('webhook_events').select('body').where('account_id', '=', healthy).execute()
const storedOrders = stored
  .map(({ body }) => (JSON.parse(body) as { data: { order_id: number } }).data.order_id)
  .filter((id) => id > beforeCrash)
const times = storedOrders.map((id) => latencies.get(id) ?? Infinity)
report('database killed in the middle', {
  committed: storedOrders.length,
  refused,
  lost: times.filter((time) => time === Infinity).length,
  longestMs: round(Math.max(...times)),
})

await worker.kill('SIGTERM')
worker = startWorker(url, TENTH)
await worker.ready
const { port } = receiver
await receiver.close()
const beforeDown = orders
const downStarted = performance.now()
while (performance.now() - downStarted < DOWN_MS) {
  await sellOne()
  await pause(250)
}
const seen = new Set<number>()
const back = await openReceiver(({ orderId }) => seen.add(orderId), { port })
await drained(db)
const sold = orders - beforeDown
report('receiver down for 4 minutes (all times a tenth)', { sold, arrived: seen.size, lost: sold - seen.size })

console.log(JSON.stringify(figures, null, 2))
await worker.kill('SIGTERM')
await back.close()
await scene.close()
