// `npm run bench -- --ablate` and `--beside`: nodes that differ in an optimisation, an option of Node, a setting or their checkout, under the same load in turn.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { SPEEDUPS } from '#core/speedups.ts'
import { median, medianAndRange, type Traffic } from './compare.ts'
import { type Load, type LoadFigures, measure, writeRequests } from './load.ts'
import { postingPrices } from './posted-prices.ts'
import { environmentOf, optionsOf, type Program, residentMb, type Server, startNode, startServer } from './processes.ts'
import type { Stage } from './stage.ts'
import { type Table, whole } from './tables.ts'
import type { HttpWorkload } from './workload.ts'

/** The workloads that the optimisations target. */
export const ABLATED = ['1', '2', '2n', '4n', '5', '5n', '6', '6n']

/** Rounds of every cell, after one that is not counted. */
const ROUNDS = 7

interface Variant extends Program {
  name: string
  settings?: Record<string, string>
  /** whether it is also measured during price writes */
  withPrices?: boolean
}

interface NodeOf {
  variant: Variant
  node: Server
}

interface Cell {
  variant: string
  workload: string
  /** whether prices arrive meanwhile */
  prices: boolean
  /** of bare node:http in the same round, one value per round */
  shares: number[]
  loads: LoadFigures[]
  /** resident memory of the node after each round */
  mb: number[]
}

/** Measures a node without each optimisation and each of its options of V8, and with none. */
export async function ablate(stage: Stage, workloads: readonly HttpWorkload[]): Promise<{ table: Table; figures: unknown }> {
  const options = optionsOf((await stage.node()).pid)
  const variants: Variant[] = [
    { name: 'all', withPrices: true },
    ...SPEEDUPS.map((one) => ({ name: `all but ${one}`, settings: without([one]) })),
    ...options.map((one) => ({ name: `all but ${one}`, options: keeping(options.filter((other) => other !== one)) })),
    { name: 'none', settings: without(SPEEDUPS), options: keeping([]), withPrices: true },
  ]
  const cells = await measureVariants(stage, workloads, variants)
  const row = (variant: string, prices: boolean) =>
    workloads.map(({ id }) => {
      const found = cells.find((cell) => cell.variant === variant && cell.workload === id && cell.prices === prices)
      return found ? medianAndRange(found.shares, 2) : ''
    })
  const table: Table = {
    title: `Share of bare node:http: median of ${ROUNDS} rounds (lowest-highest)`,
    head: ['Speed-ups', ...workloads.map(({ id }) => id)],
    rows: [
      ...variants.map(({ name }) => [name, ...row(name, false)]),
      ...variants.filter(({ withPrices }) => withPrices).map(({ name }) => [`${name}, while prices arrive`, ...row(name, true)]),
    ],
    words: 1,
  }
  return { table, figures: cells }
}

/**
 * Compares a node with others.
 * @param others each a list of words that say how the other one differs: the folder of another checkout, settings such as
 * `MINTMARK_READY_BYTES_MB=64`, and options of Node, which replace those that a node adds itself
 */
export async function compareNodes(
  stage: Stage,
  workloads: readonly HttpWorkload[],
  others: readonly string[],
): Promise<{ table: Table; figures: unknown }> {
  const cells = await measureVariants(stage, workloads, [{ name: 'this version' }, ...others.map(variantOf)])
  const table: Table = {
    title: `Highest load: medians of ${ROUNDS} rounds (lowest-highest)`,
    head: ['#', 'Node', 'Share of bare node:http', 'CPU µs', 'p99 ms', 'Memory MB'],
    rows: workloads.flatMap(({ id }) =>
      cells
        .filter(({ workload }) => workload === id)
        .map(({ variant, shares, loads, mb }) => [
          id,
          variant,
          medianAndRange(shares, 2),
          median(loads.map(({ cpuMicros }) => cpuMicros)).toFixed(1),
          medianAndRange(
            loads.map(({ p99 }) => p99),
            1,
          ),
          whole(median(mb)),
        ]),
    ),
    words: 2,
  }
  return { table, figures: cells }
}

function variantOf(text: string): Variant {
  const variant: Variant & { options: string[]; settings: Record<string, string> } = { name: text, options: [], settings: {} }
  for (const word of text.split(' ')) {
    const setting = /^([A-Z_]+)=(.*)$/.exec(word)
    if (word.startsWith('-')) variant.options.push(word)
    else if (setting) variant.settings[setting[1]!] = setting[2]!
    else if (existsSync(word)) variant.folder = resolve(word)
    else throw new Error(`"${word}" is neither a folder, nor a setting, nor an option of Node`)
  }
  return variant
}

function without(speedups: readonly string[]): Record<string, string> {
  return { MINTMARK_WITHOUT: speedups.join(',') }
}

/** Options with which a node starts without adding its own: it adds them unless it was given this one, which alone changes nothing. */
function keeping(options: readonly string[]): string[] {
  return options.some((one) => one.startsWith('--max-semi-space-size')) ? [...options] : ['--max-semi-space-size=0', ...options]
}

/**
 * Each variant has a node of its own, which is idle while others are measured. In each round, a workload is measured on bare node:http and then on every
 * variant, in alternating order, so that other activity on the machine affects all alike. While prices arrive, only one node runs at a time.
 */
async function measureVariants(stage: Stage, workloads: readonly HttpWorkload[], variants: readonly Variant[]): Promise<Cell[]> {
  const traffics = new Map<HttpWorkload, Traffic>()
  for (const workload of workloads) traffics.set(workload, await workload.traffic(stage))
  // A node that is given options does not add to its environment either.
  const added = environmentOf((await stage.node()).pid)
  await stage.stopNode()
  const cells: Cell[] = workloads.flatMap(({ id }) =>
    variants.flatMap(({ name, withPrices }) =>
      (withPrices ? [false, true] : [false]).map((prices) => ({ variant: name, workload: id, prices, shares: [], loads: [], mb: [] })),
    ),
  )
  const measureRound = async (round: number, nodes: readonly NodeOf[], prices: boolean) => {
    for (const workload of workloads) {
      for (const { name, share, figures, mb } of await measureNodes(stage, workload.id, traffics.get(workload)!, nodes, prices)) {
        // Round 0 warms up.
        if (round === 0) continue
        const cell = cells.find((one) => one.variant === name && one.workload === workload.id && one.prices === prices)!
        cell.shares.push(share)
        cell.loads.push(figures)
        cell.mb.push(mb)
      }
    }
  }
  const start = async (variant: Variant): Promise<NodeOf> => {
    const settings = { ...(variant.options && added), ...variant.settings }
    return { variant, node: await startNode(stage.database.url, settings, variant) }
  }
  const nodes: NodeOf[] = []
  for (const variant of variants) nodes.push(await start(variant))
  for (let round = 0; round <= ROUNDS; round += 1) {
    await measureRound(round, round % 2 === 0 ? nodes : nodes.toReversed(), false)
    stage.say(`round ${round} of ${ROUNDS}`)
  }
  for (const { node } of nodes) await node.stop()
  const duringPrices = variants.filter(({ withPrices }) => withPrices)
  for (let round = 1; round <= ROUNDS && duringPrices.length > 0; round += 1) {
    for (const variant of duringPrices) {
      const one = await start(variant)
      await measureRound(round, [one], true)
      await one.node.stop()
    }
    stage.say(`round ${round} of ${ROUNDS} while prices arrive`)
  }
  return cells
}

async function measureNodes(
  stage: Stage,
  id: string,
  { bytes, requests, plan }: Traffic,
  nodes: readonly NodeOf[],
  prices: boolean,
): Promise<{ name: string; share: number; figures: LoadFigures; mb: number }[]> {
  const { database } = stage
  const bareServer = await startServer('bench/bare-server.ts', [String(bytes)])
  const common = { key: database.accounts[plan].key, requestsFile: writeRequests(stage.server.dir, id, requests) }
  const load = ({ url, pid }: Server): Load => ({ url, pid, ...common })
  const feed = prices ? postingPrices(database, nodes[0]!.node) : null
  await measure(load(bareServer), 1)
  const bare = await measure(load(bareServer), 1)
  await bareServer.stop()
  const measured: { name: string; share: number; figures: LoadFigures; mb: number }[] = []
  for (const { variant, node } of nodes) {
    if (prices) await measure(load(node), 1)
    const figures = await measure(load(node), stage.effort.seconds)
    measured.push({ name: variant.name, share: figures.requestsPerSecond / bare.requestsPerSecond, figures, mb: residentMb(node.pid) })
  }
  await feed?.stop()
  return measured
}
