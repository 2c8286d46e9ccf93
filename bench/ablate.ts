// `npm run bench -- --ablate`: the effect of each optimisation on each workload, with and without concurrent price writes.
import { SPEEDUPS, type Speedup } from '#core/speedups.ts'
import { medianAndRange, type Traffic } from './compare.ts'
import { type Load, measure, writeRequests } from './load.ts'
import { postingPrices } from './posted-prices.ts'
import { type Server, startNode, startServer } from './processes.ts'
import type { Stage } from './stage.ts'
import type { Table } from './tables.ts'
import type { HttpWorkload } from './workload.ts'

/** The workloads that the optimisations target. */
export const ABLATED = ['1', '2', '2n', '4n', '5', '5n', '6', '6n']

/** Rounds of every cell, after one that is not counted. */
const ROUNDS = 7

interface Variant {
  name: string
  without: readonly Speedup[]
  /** whether it is also measured during price writes */
  withPrices: boolean
}

const VARIANTS: Variant[] = [
  { name: 'all', without: [], withPrices: true },
  ...SPEEDUPS.map((one) => ({ name: `all but ${one}`, without: [one], withPrices: false })),
  { name: 'none', without: SPEEDUPS, withPrices: true },
]

interface NodeOf {
  name: string
  node: Server
}

interface Cell {
  variant: string
  workload: string
  /** whether prices arrive meanwhile */
  prices: boolean
  /** of bare node:http in the same round, one value per round */
  shares: number[]
}

/**
 * Shares of bare node:http by workload and variant. Every variant has its own idle node. In each round, a workload is measured on bare node:http
 * and then on every variant, so that other activity on the machine affects all alike. While prices arrive, only one node runs at a time.
 */
export async function ablate(stage: Stage, workloads: readonly HttpWorkload[]): Promise<{ table: Table; figures: unknown }> {
  const traffics = new Map<HttpWorkload, Traffic>()
  for (const workload of workloads) traffics.set(workload, await workload.traffic(stage))
  await stage.stopNode()
  const cells = new Map<string, Cell>()
  const measureRound = async (round: number, nodes: readonly NodeOf[], prices: boolean) => {
    for (const workload of workloads) {
      for (const [variant, share] of await sharesOf(stage, workload.id, traffics.get(workload)!, nodes, prices)) {
        const key = `${variant} ${workload.id} ${prices}`
        if (!cells.has(key)) cells.set(key, { variant, workload: workload.id, prices, shares: [] })
        // Round 0 warms up.
        if (round > 0) cells.get(key)!.shares.push(share)
      }
    }
  }
  const start = async ({ name, without }: Variant): Promise<NodeOf> => ({
    name,
    node: await startNode(stage.database.url, { MINTMARK_WITHOUT: without.join(',') }),
  })
  const nodes: NodeOf[] = []
  for (const variant of VARIANTS) nodes.push(await start(variant))
  for (let round = 0; round <= ROUNDS; round += 1) {
    await measureRound(round, nodes, false)
    stage.say(`round ${round} of ${ROUNDS}`)
  }
  for (const { node } of nodes) await node.stop()
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const variant of VARIANTS.filter(({ withPrices }) => withPrices)) {
      const one = await start(variant)
      await measureRound(round, [one], true)
      await one.node.stop()
    }
    stage.say(`round ${round} of ${ROUNDS} while prices arrive`)
  }
  const figures = [...cells.values()]
  const shown = ({ shares }: Cell) => medianAndRange(shares, 2)
  const row = (variant: string, prices: boolean) =>
    workloads.map(({ id }) => {
      const found = cells.get(`${variant} ${id} ${prices}`)
      return found ? shown(found) : ''
    })
  const table: Table = {
    title: `Share of bare node:http: median of ${ROUNDS} rounds (lowest-highest)`,
    head: ['Speed-ups', ...workloads.map(({ id }) => id)],
    rows: [
      ...VARIANTS.map(({ name }) => [name, ...row(name, false)]),
      ...VARIANTS.filter(({ withPrices }) => withPrices).map(({ name }) => [`${name}, while prices arrive`, ...row(name, true)]),
    ],
    words: 1,
  }
  return { table, figures }
}

async function sharesOf(
  stage: Stage,
  id: string,
  { bytes, requests, plan }: Traffic,
  nodes: readonly NodeOf[],
  prices: boolean,
): Promise<[string, number][]> {
  const { database } = stage
  const bareServer = await startServer('bench/bare-server.ts', [String(bytes)])
  const common = { key: database.accounts[plan].key, requestsFile: writeRequests(stage.server.dir, id, requests) }
  const load = ({ url, pid }: Server): Load => ({ url, pid, ...common })
  const feed = prices ? postingPrices(database, nodes[0]!.node) : null
  await measure(load(bareServer), 1)
  const bare = await measure(load(bareServer), 1)
  await bareServer.stop()
  const shares: [string, number][] = []
  for (const { name, node } of nodes) {
    if (prices) await measure(load(node), 1)
    const { requestsPerSecond } = await measure(load(node), 1)
    shares.push([name, requestsPerSecond / bare.requestsPerSecond])
  }
  await feed?.stop()
  return shares
}
