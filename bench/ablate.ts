// `npm run bench -- --ablate`: the effect of each optimisation on each workload, with and without concurrent price writes.
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { postPrices } from '#catalogue/post-prices.ts'
import { readConfig } from '#config.ts'
import { MARKETS } from '#core/markets.ts'
import { SPEEDUPS, type Speedup } from '#core/speedups.ts'
import { call } from '#core/verb.ts'
import { median, type Traffic } from './compare.ts'
import type { BenchDatabase } from './database.ts'
import { type Load, measure, writeRequests } from './load.ts'
import { type Server, startNode, startServer } from './processes.ts'
import type { Stage } from './stage.ts'
import type { Table } from './tables.ts'
import type { HttpWorkload } from './workload.ts'

/** The workloads that the optimisations target. */
export const ABLATED = ['1', '2', '2n', '4n', '5', '5n', '6', '6n']

const BATCHES_PER_SECOND = 10
const BATCH = 100

interface Variant {
  name: string
  without: readonly Speedup[]
  /** whether it is also measured during price writes */
  withPrices: boolean
}

const VARIANTS: Variant[] = [
  { name: 'all', without: [], withPrices: true },
  ...SPEEDUPS.map((one) => ({ name: `all but ${one}`, without: [one], withPrices: false })),
  ...SPEEDUPS.map((one) => ({ name: `${one} alone`, without: SPEEDUPS.filter((other) => other !== one), withPrices: true })),
  { name: 'none', without: SPEEDUPS, withPrices: true },
]

/** Shares of bare node:http by workload and variant. */
export async function ablate(stage: Stage, workloads: readonly HttpWorkload[]): Promise<{ table: Table; figures: unknown }> {
  const traffics = new Map<HttpWorkload, Traffic>()
  for (const workload of workloads) traffics.set(workload, await workload.traffic(stage))
  await stage.stopNode()
  const figures: { workload: string; variant: string; prices: boolean; share: number; p99: number }[] = []
  for (const { name, without, withPrices } of VARIANTS) {
    const node = await startNode(stage.database.url, { MINTMARK_WITHOUT: without.join(',') })
    for (const workload of workloads) {
      for (const prices of withPrices ? [false, true] : [false]) {
        const measured = await shareOf(stage, node, workload.id, traffics.get(workload)!, prices)
        figures.push({ workload: workload.id, variant: name, prices, ...measured })
        stage.say(
          `${name}, ${workload.id}${prices ? ' while prices arrive' : ''}: ${measured.share.toFixed(2)} of bare, p99 ${measured.p99.toFixed(1)} ms`,
        )
      }
    }
    await node.stop()
  }
  const cell = (variant: string, workload: string) =>
    figures
      .filter((one) => one.variant === variant && one.workload === workload)
      .map(({ share }) => share.toFixed(2))
      .join(' / ')
  const table: Table = {
    title: 'Share of bare node:http, calm / while 10 batches of 100 prices a second arrive',
    head: ['Speed-ups', ...workloads.map(({ id }) => id)],
    rows: VARIANTS.map(({ name }) => [name, ...workloads.map(({ id }) => cell(name, id))]),
    words: 1,
  }
  return { table, figures }
}

async function shareOf(stage: Stage, node: Server, id: string, { bytes, requests, plan }: Traffic, prices: boolean) {
  const { effort, database } = stage
  const bareServer = await startServer('bench/bare-server.ts', [String(bytes)])
  const common = { key: database.accounts[plan].key, requestsFile: writeRequests(stage.server.dir, id, requests) }
  const load = ({ url, pid }: Server): Load => ({ url, pid, ...common })
  const feed = prices ? postingPrices(database) : null
  await measure(load(bareServer), 1)
  await measure(load(node), 1)
  const shares: number[] = []
  const p99s: number[] = []
  for (let round = 0; round < effort.rounds; round += 1) {
    const bare = await measure(load(bareServer), effort.seconds)
    const ours = await measure(load(node), effort.seconds)
    shares.push(ours.requestsPerSecond / bare.requestsPerSecond)
    p99s.push(ours.p99)
  }
  await feed?.stop()
  await bareServer.stop()
  return { share: median(shares), p99: median(p99s) }
}

/** Posts batches of changed prices like a feed until stopped. */
function postingPrices({ ctx }: BenchDatabase): { stop: () => Promise<void> } {
  let stopped = false
  const run = async () => {
    const { rows } = await sql<{ id: number; market: number; label: string; price: number }>`
      select p.item_id as id, p.market, g.name as label, p.price::float8 as price from prices p join groups g on g.id = p.label_id
      order by p.item_id limit 20000`.execute(ctx.db.kysely)
    const { priceRules: rules } = readConfig({})
    const post = (prices: object[]) => call(postPrices, { ...ctx, rules, imports: undefined as never }, { prices } as never)
    for (let batch = 1, due = performance.now(); !stopped; batch += 1) {
      due += 1_000 / BATCHES_PER_SECOND
      const at = new Date().toISOString()
      await post(
        Array.from({ length: BATCH }, (_, i) => {
          const { id, market, label, price } = rows[(batch * 7_919 + i * 101) % rows.length]!
          return { item_id: id, market: MARKETS[market], label, price: Number((price * (1 + (batch % 5) / 50) + 0.01).toFixed(2)), updated_at: at }
        }),
      )
      await delay(Math.max(0, due - performance.now()))
    }
  }
  const running = run()
  return {
    stop: async () => {
      stopped = true
      await running
    },
  }
}
