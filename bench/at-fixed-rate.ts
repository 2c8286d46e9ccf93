// `npm run bench -- --paced`: latencies at 70 % of the highest load, from each request's due time, and the pauses of the node meanwhile.
import { median, medianAndRange, type Traffic } from './compare.ts'
import { type Pauses, pausesWhile } from './inspect.ts'
import { measure, writeRequests } from './load.ts'
import { paced, type PacedFigures } from './paced.ts'
import { startServer } from './processes.ts'
import type { Stage } from './stage.ts'
import type { Table } from './tables.ts'
import type { HttpWorkload } from './workload.ts'

/** Workloads 1 to 6, and those of 2 to 6 in which nothing is repeated soon. */
export const PACED = ['1', '2', '2n', '3', '4', '4n', '5', '5n', '6', '6n']
const SHARE = 0.7
const ROUNDS = 7
const GOAL_MS = 5

interface Round {
  perSecond: number
  ours: PacedFigures
  bare: PacedFigures
  pauses: Pauses
}

/**
 * In each round, the highest load of a workload is measured, and then 70 % of it is sent to the node and to bare node:http, whose latencies show what
 * the machine and the load generator add. All requests have a due time, so a pause delays all requests that are due during it. Pauses are observed
 * during a second such load, because the observation itself costs time.
 */
export async function atFixedRate(stage: Stage, workloads: readonly HttpWorkload[]): Promise<{ table: Table; figures: unknown }> {
  const { effort, database, say } = stage
  const rounds = new Map<HttpWorkload, Round[]>()
  for (const workload of workloads) {
    const traffic = await workload.traffic(stage)
    rounds.set(workload, await roundsOf(stage, workload.id, traffic, database.accounts[traffic.plan].key))
    say(`${workload.id}: p99 ${median(rounds.get(workload)!.map(({ ours }) => ours.p99)).toFixed(1)} ms`)
  }
  const table: Table = {
    title: `Latency at 70 % of the highest load, in ms from the due time: medians of ${effort.quick ? 1 : ROUNDS} rounds (lowest-highest)`,
    head: [
      'Workload',
      'Requests/s',
      'p50',
      `p99 (goal ${GOAL_MS})`,
      'Longest',
      'p99 of bare node:http',
      'Longest iteration',
      'Iterations over 3 ms',
      'Longest collection',
      'Collections over 5 ms',
    ],
    rows: [...rounds].map(([{ id, title }, of]) => {
      const middle = (value: (round: Round) => number) => median(of.map(value))
      const p99s = of.map(({ ours }) => ours.p99)
      const share = (part: number, all: number) => `${part} of ${all}`
      const sum = (value: (pauses: Pauses) => number) => of.reduce((total, { pauses }) => total + value(pauses), 0)
      return [
        `${id} ${title}`,
        Math.round(middle(({ perSecond }) => perSecond)).toLocaleString('en'),
        middle(({ ours }) => ours.p50).toFixed(2),
        medianAndRange(p99s, 1),
        middle(({ ours }) => ours.max).toFixed(1),
        middle(({ bare }) => bare.p99).toFixed(1),
        middle(({ pauses }) => pauses.longestMs).toFixed(1),
        share(
          sum(({ longIterations }) => longIterations),
          sum(({ iterations }) => iterations),
        ),
        middle(({ pauses }) => pauses.longestCollectionMs).toFixed(1),
        share(
          sum(({ longCollections }) => longCollections),
          sum(({ collections }) => collections),
        ),
      ]
    }),
    words: 1,
  }
  return { table, figures: [...rounds].map(([{ id }, of]) => ({ workload: id, rounds: of })) }
}

async function roundsOf(stage: Stage, id: string, { requests, bytes }: Traffic, key: string): Promise<Round[]> {
  const { effort, server } = stage
  const node = await stage.node()
  const bare = await startServer('bench/bare-server.ts', [String(bytes)])
  const load = { url: node.url, pid: node.pid, key, requestsFile: writeRequests(server.dir, id, requests) }
  await measure(load, effort.seconds)
  const rounds: Round[] = []
  for (let round = 0; round < (effort.quick ? 1 : ROUNDS); round += 1) {
    const { requestsPerSecond } = await measure(load, effort.seconds)
    const perSecond = requestsPerSecond * SHARE
    const send = (url: string) => paced({ url, key, requests, perSecond, seconds: effort.seconds })
    const ours = await send(node.url)
    const pauses = await pausesWhile(node, () => send(node.url))
    rounds.push({ perSecond, ours, pauses, bare: await send(bare.url) })
  }
  await bare.stop()
  return rounds
}
