// `npm run bench -- --changing`: reads while prices arrive, compared with the same reads while nothing changes.
import { median, medianAndRange, type Traffic } from './compare.ts'
import { mkdirSync, writeFileSync } from 'node:fs'
import { profileWhile } from './inspect.ts'
import { type Load, type LoadFigures, measure, writeRequests } from './load.ts'
import { postingPrices } from './posted-prices.ts'
import type { Stage } from './stage.ts'
import type { Table } from './tables.ts'
import type { HttpWorkload } from './workload.ts'

/** Lists, searches, GraphQL and listings. */
export const CHANGING = ['2', '4', '5', '6']
const ROUNDS = 7
const TOP = 25

interface Round {
  calm: LoadFigures
  changing: LoadFigures
  /** milliseconds from the post of each batch until it was shown */
  shownAfterMs: number[]
}

/** In each round, a workload is measured without changes and then with them, so that other activity on the machine affects both alike. */
export async function whileChanging(stage: Stage, workloads: readonly HttpWorkload[]): Promise<{ table: Table; figures: unknown }> {
  const { effort } = stage
  const traffics = new Map<HttpWorkload, Traffic>()
  for (const workload of workloads) traffics.set(workload, await workload.traffic(stage))
  const node = await stage.node()
  const rounds = new Map<HttpWorkload, Round[]>(workloads.map((workload) => [workload, []]))
  for (let round = 0; round <= (effort.quick ? 1 : ROUNDS); round += 1) {
    for (const [workload, { requests, plan }] of traffics) {
      const { key } = stage.database.accounts[plan]
      const load: Load = { url: node.url, pid: node.pid, key, requestsFile: writeRequests(stage.server.dir, workload.id, requests) }
      await measure(load, 1)
      const calm = await measure(load, effort.seconds)
      const feed = postingPrices(stage.database, node)
      await measure(load, 1)
      const changing = await measure(load, effort.seconds)
      if (effort.profiles && round === 0) await profile(stage, workload.id, () => measure(load, effort.seconds))
      const shownAfterMs = await feed.stop()
      // Round 0 warms up.
      if (round > 0) rounds.get(workload)!.push({ calm, changing, shownAfterMs })
    }
    stage.say(`round ${round} of ${ROUNDS}`)
  }
  const table: Table = {
    title: `Reads while 10 × 100 prices a second arrive: medians of ${ROUNDS} rounds (lowest-highest)`,
    head: [
      'Workload',
      'Requests/s calm',
      'while changing',
      'Share',
      'Goal',
      'p99 ms calm',
      'while changing',
      'Times',
      'Goal',
      'Batch shown after ms, median',
      'longest (goal 100)',
    ],
    rows: [...rounds].map(([{ id, title }, of]) => {
      const middle = (value: (round: Round) => number) => median(of.map(value))
      const share = ({ calm, changing }: Round) => changing.requestsPerSecond / calm.requestsPerSecond
      const shares = of.map(share)
      return [
        `${id} ${title}`,
        Math.round(middle(({ calm }) => calm.requestsPerSecond)).toLocaleString('en'),
        Math.round(middle(({ changing }) => changing.requestsPerSecond)).toLocaleString('en'),
        medianAndRange(shares, 2),
        '0.65',
        middle(({ calm }) => calm.p99).toFixed(1),
        middle(({ changing }) => changing.p99).toFixed(1),
        middle(({ calm, changing }) => changing.p99 / calm.p99).toFixed(1),
        '3.0',
        middle(({ shownAfterMs }) => median(shownAfterMs)).toFixed(0),
        Math.max(...of.flatMap(({ shownAfterMs }) => shownAfterMs)).toFixed(0),
      ]
    }),
    words: 1,
  }
  return { table, figures: [...rounds].map(([{ id }, of]) => ({ workload: id, rounds: of })) }
}

async function profile(stage: Stage, id: string, run: () => Promise<unknown>): Promise<void> {
  const { json, top } = await profileWhile(await stage.node(), run)
  mkdirSync(stage.effort.profiles!, { recursive: true })
  writeFileSync(new URL(`${id}-changing.cpuprofile`, stage.effort.profiles!), json)
  for (const { where, share } of top.slice(0, TOP)) stage.say(`  ${(share * 100).toFixed(1).padStart(5)} %  ${where}`)
}
