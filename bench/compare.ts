// Compares our node with bare node:http and a baseline Fastify + pg server under the same requests.
import { mkdirSync, writeFileSync } from 'node:fs'
import type { Plan } from '#core/plans.ts'
import { answerTo } from './answers.ts'
import { profileWhile } from './inspect.ts'
import { type Load, type LoadFigures, measure, writeRequests } from './load.ts'
import { type Server, startServer } from './processes.ts'
import type { Stage } from './stage.ts'

export interface Traffic {
  /** plan of the key used by the requests */
  plan: Plan
  /** lines of a requests file, sent to every server in the same order */
  requests: string[]
  /** mean size of a response */
  bytes: number
  /** whether the baseline server is measured with these requests, too */
  plain: boolean
  /**
   * Checks the results on our node before the baseline server is measured; takes the figures of every load on our node.
   * @returns a note to print with the results
   * @throws Error if a check fails
   */
  verify?: (loads: readonly LoadFigures[]) => Promise<string>
  /** Notifies our node of what the baseline server has written. */
  afterPlain?: () => Promise<void>
}

export interface Comparison {
  id: string
  title: string
  goal: number | null
  bytes: number
  /** medians over the rounds */
  ours: LoadFigures
  bare: LoadFigures
  /** of one round; null if the baseline server is not measured with this workload */
  plain: (LoadFigures & { seconds: number }) | null
  /** median over the rounds of ours ÷ bare */
  shareOfBare: number
  note: string | null
}

const TOP = 25

/**
 * Ours and bare alternate, so that other activity on the machine affects both alike. The baseline server runs last, because its unfinished
 * requests would keep the core busy.
 */
export async function compare(stage: Stage, { id, title, goal }: Pick<Comparison, 'id' | 'title' | 'goal'>, traffic: Traffic): Promise<Comparison> {
  const { effort, database, say } = stage
  const { bytes, requests } = traffic
  const { key } = database.accounts[traffic.plan]
  const node = await stage.node()
  const bareServer = await startServer('bench/bare-server.ts', [String(bytes)])
  const common = { key, requestsFile: writeRequests(stage.server.dir, id, requests) }
  const load = ({ url, pid }: Server): Load => ({ url, pid, ...common })
  await measure(load(bareServer), 1)
  const onOurs = [await measure(load(node), Math.min(2, effort.seconds))]
  const bare: LoadFigures[] = []
  for (let round = 0; round < effort.rounds; round += 1) {
    bare.push(await measure(load(bareServer), effort.seconds))
    onOurs.push(await measure(load(node), effort.seconds))
  }
  await bareServer.stop()
  const ours = onOurs.slice(1)
  if (effort.profiles) {
    const { json, top } = await profileWhile(node, async () => onOurs.push(await measure(load(node), effort.seconds)))
    mkdirSync(effort.profiles, { recursive: true })
    writeFileSync(new URL(`${id}.cpuprofile`, effort.profiles), json)
    for (const { where, share } of top.slice(0, TOP)) say(`  ${(share * 100).toFixed(1).padStart(5)} %  ${where}`)
  }
  const note = (await traffic.verify?.(onOurs)) ?? null
  const plain = traffic.plain ? await measurePlain(stage, load, requests[0]!, key) : null
  await traffic.afterPlain?.()
  const shareOfBare = median(ours.map((figures, i) => figures.requestsPerSecond / bare[i]!.requestsPerSecond))
  const result = { id, title, goal, bytes, ours: medians(ours), bare: medians(bare), plain, shareOfBare, note }
  const rate = `${Math.round(result.ours.requestsPerSecond)} requests/s`
  say(`${id} ${title}: ${rate}, ${shareOfBare.toFixed(2)} of bare${goal === null ? '' : `, goal ${goal.toFixed(2)}`}${note ? `; ${note}` : ''}`)
  return result
}

async function measurePlain({ effort, startPlain }: Stage, load: (server: Server) => Load, request: string, key: string) {
  const plain = await startPlain()
  try {
    await answerTo(plain, key, request)
    return { ...(await measure(load(plain), effort.seconds)), seconds: effort.seconds }
  } finally {
    await plain.abandon()
  }
}

/** The median of each figure separately. */
export function medians(rows: LoadFigures[]): LoadFigures {
  const of = (field: keyof LoadFigures) => median(rows.map((row) => row[field]))
  return {
    requests: of('requests'),
    sent: of('sent'),
    requestsPerSecond: of('requestsPerSecond'),
    cpuMicros: of('cpuMicros'),
    p50: of('p50'),
    p99: of('p99'),
    max: of('max'),
  }
}

/** Median of values, with the lowest and highest. */
export function medianAndRange(values: number[], digits: number): string {
  const [middle, lowest, highest] = [median(values), Math.min(...values), Math.max(...values)].map((value) => value.toFixed(digits))
  return `${middle} (${lowest}-${highest})`
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]!
}
