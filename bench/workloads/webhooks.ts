// Workload 9: time from a committed sale to its signed webhook, and the speed at which a long queue is drained.
import { Webhook } from 'standardwebhooks'
import type { BenchDatabase } from '../database.ts'
import { pinProcess, SERVER_CORE } from '../processes.ts'
import type { Stage } from '../stage.ts'
import { type Table, whole } from '../tables.ts'
import { type Child, drained, openReceiver, openSignedSeller, pause, percentile, type Post, sell, startWorker } from '../webhooks/scene.ts'
import type { Workload } from '../workload.ts'

const IDLE_RATE = 10
const RATE = 50
const WARM_SECONDS = 2
const QUEUED = 10_000
const QUICK_QUEUED = 2_000
const BATCH = 1_000
const GOALS = { p50: 5, p99: 50, drainSeconds: 20 }

export const webhookWorkload: Workload = {
  id: '9',
  title: 'Sale committed to signed webhook received',
  goal: null,
  data: 'own',
  prepare: async (stage) => () => measure(stage),
}

interface Latency {
  when: string
  sales: number
  p50: number
  p99: number
  max: number
}

interface Drain {
  receivers: number
  webhooks: number
  /** from the start of the sender to the last arrival */
  seconds: number
}

async function measure(stage: Stage) {
  const database = await stage.server.create('webhooks')
  const shop = await openShop(database)
  let worker: Child | null = null
  const start = async () => {
    worker = startWorker(database.url)
    await worker.ready
    pinProcess(worker.process.pid!, SERVER_CORE)
    return performance.now()
  }
  try {
    await start()
    await shop.sellSteadily(IDLE_RATE, WARM_SECONDS)
    const seconds = stage.effort.quick ? 3 : 10
    const latencies: Latency[] = []
    for (const [when, rate] of [
      [`${IDLE_RATE} sales/s`, IDLE_RATE],
      [`${RATE} sales/s`, RATE],
    ] as const) {
      const times = await shop.sellSteadily(rate, seconds)
      latencies.push({ when, sales: times.length, p50: percentile(times, 0.5), p99: percentile(times, 0.99), max: Math.max(...times) })
      stage.say(`9 ${when}: p50 ${percentile(times, 0.5).toFixed(1)} ms, p99 ${percentile(times, 0.99).toFixed(1)} ms`)
    }
    const queued = stage.effort.quick ? QUICK_QUEUED : QUEUED
    const drains: Drain[] = []
    for (const receivers of [1, 100]) {
      await worker!.kill('SIGTERM')
      await shop.queue(queued, receivers)
      const seconds = (await shop.drained(await start())) / 1_000
      drains.push({ receivers, webhooks: queued, seconds })
      stage.say(`9 ${queued} queued for ${receivers} receivers: drained in ${seconds.toFixed(1)} s`)
    }
    return { table: tableOf(latencies, drains), figures: { latencies, drains } }
  } finally {
    await worker!.kill('SIGTERM')
    await shop.close()
    await database.close()
  }
}

/** Sellers whose webhooks arrive here; each is checked: delivered once, and signed with its seller's secret. */
async function openShop(database: BenchDatabase) {
  const { db } = database.ctx
  const committed = new Map<number, number>()
  const arrived = new Map<number, number>()
  const signatures = new Map<number, Webhook>()
  const wrong: string[] = []
  const receiver = await openReceiver(({ orderId, atMs, headers, body }: Post) => {
    try {
      signatures.get(orderId)!.verify(body, headers as Record<string, string>)
    } catch (error) {
      wrong.push(`order ${orderId}: ${String(error)}`)
    }
    if (arrived.has(orderId)) wrong.push(`order ${orderId} came twice`)
    arrived.set(orderId, atMs)
  })
  const sellers: { accountId: number; signature: Webhook }[] = []
  const openSellers = async (count: number) => {
    while (sellers.length < count) {
      const { accountId, secret } = await openSignedSeller(database, receiver.url)
      sellers.push({ accountId, signature: new Webhook(secret) })
    }
    return sellers.slice(0, count)
  }
  let orders = 0
  const commit = async (seller: (typeof sellers)[number], count: number) => {
    const ids = Array.from({ length: count }, () => (orders += 1))
    for (const id of ids) signatures.set(id, seller.signature)
    await sell(db, seller.accountId, ids)
    const atMs = performance.now()
    for (const id of ids) committed.set(id, atMs)
  }
  const check = (from: number) => {
    for (let id = from + 1; id <= orders; id += 1) if (!arrived.has(id)) wrong.push(`order ${id} did not arrive`)
    if (wrong.length > 0) throw new Error(`${wrong.length} webhooks are wrong: ${wrong.slice(0, 3).join('; ')}`)
  }
  const [first] = await openSellers(1)
  return {
    /** Milliseconds from commit to arrival; 0 if it arrives before the commit's own response. */
    sellSteadily: async (rate: number, seconds: number): Promise<number[]> => {
      const from = orders
      const started = performance.now()
      const selling: Promise<void>[] = []
      for (let i = 0; i < rate * seconds; i += 1) {
        await pause(Math.max(0, started + (i * 1_000) / rate - performance.now()))
        selling.push(commit(first!, 1))
      }
      await Promise.all(selling)
      await drained(db)
      check(from)
      return Array.from({ length: orders - from }, (_, i) => Math.max(0, arrived.get(from + i + 1)! - committed.get(from + i + 1)!))
    },
    queue: async (webhooks: number, receivers: number) => {
      const share = webhooks / receivers
      for (const seller of await openSellers(receivers)) {
        for (let left = share; left > 0; left -= BATCH) await commit(seller, Math.min(left, BATCH))
      }
    },
    /** Milliseconds from a given time to the last arrival. */
    drained: async (sinceMs: number): Promise<number> => {
      await drained(db)
      check(0)
      return Math.max(...arrived.values()) - sinceMs
    },
    close: () => receiver.close(),
  }
}

function tableOf(latencies: Latency[], drains: Drain[]): Table {
  return {
    title: '9: from the commit of a sale to its signed webhook',
    head: ['', 'Webhooks', `p50 ms (goal ${GOALS.p50})`, `p99 ms (goal ${GOALS.p99})`, 'Longest ms', `Drained in s (goal ${GOALS.drainSeconds})`],
    rows: [
      ...latencies.map(({ when, sales, p50, p99, max }) => [when, whole(sales), p50.toFixed(1), p99.toFixed(1), max.toFixed(1), '']),
      ...drains.map(({ receivers, webhooks, seconds }) => [
        `queued for ${receivers} receiver${receivers > 1 ? 's' : ''}`,
        whole(webhooks),
        '',
        '',
        '',
        seconds.toFixed(1),
      ]),
    ],
    words: 1,
  }
}
