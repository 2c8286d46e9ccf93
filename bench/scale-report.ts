// Tables and curves of measurements at growing sizes, with the slope of cost over size.
import type { Panel } from './chart.ts'
import type { LoadFigures } from './load.ts'
import { type Table, whole } from './tables.ts'

export type Kind = 'items' | 'listings'

/** Measurements at one size. */
export interface Point {
  kind: Kind
  n: number
  /** from the start of the process to the first correct response */
  startMs: number
  /** memory of a node without any items or listings; with them after the start and a full garbage collection; and after the workloads */
  withoutMb: number
  residentMb: number
  afterLoadMb: number
  /** bytes per item or listing above an empty node: live objects with the memory they hold, and resident memory */
  bytes: { held: number; resident: number }
  /** by workload */
  cost: Record<string, LoadFigures & { title: string }>
}

export interface Scale {
  machine: string
  points: Point[]
}

const KINDS: readonly Kind[] = ['items', 'listings']
const SLOPE_GOAL = 0.1
const BYTES_GOAL: Record<Kind, number> = { items: 450, listings: 90 }
const START_GOAL = 10

export function scaleTables(points: readonly Point[]): Table[] {
  return KINDS.flatMap((kind) => {
    const some = points.filter((point) => point.kind === kind)
    return some.length === 0 ? [] : [costTable(kind, some), sizeTable(kind, some)]
  })
}

/** Curves of the processor time per request. */
export function panelsOf(points: readonly Point[]): Panel[] {
  return KINDS.map((kind) => ({
    title: `µs of processor time per request, by ${kind}`,
    curves: workloadsIn(points.filter((point) => point.kind === kind)).map((id) => ({ name: id, points: costsOf(id, points, kind) })),
  })).filter(({ curves }) => curves.length > 0)
}

function costTable(kind: Kind, points: Point[]): Table {
  return {
    title: `Processor time per request, µs, by ${kind}`,
    head: ['#', 'Workload', ...points.map(({ n }) => whole(n)), `Slope of log cost over log n (flat: ≤ ${SLOPE_GOAL})`],
    rows: workloadsIn(points).map((id) => {
      const title = points.find(({ cost }) => cost[id])!.cost[id]!.title
      const micros = points.map(({ cost }) => cost[id]?.cpuMicros.toFixed(1) ?? '-')
      const costs = costsOf(id, points, kind)
      return [id, title, ...micros, costs.length > 1 ? slope(costs).toFixed(2) : '-']
    }),
    words: 2,
  }
}

function sizeTable(kind: Kind, points: Point[]): Table {
  const one = kind === 'items' ? 'item with 8 prices' : 'listing'
  return {
    title: `Start and memory, by ${kind}`,
    head: [
      'Size',
      `First answer after s (goal ${START_GOAL})`,
      `Memory MB without any ${kind}`,
      'after start',
      'after the workloads',
      `Bytes per ${one}, held (goal ${BYTES_GOAL[kind]})`,
      `Bytes per ${one}, resident`,
    ],
    rows: points.map(({ n, startMs, withoutMb, residentMb, afterLoadMb, bytes }) => [
      whole(n),
      (startMs / 1_000).toFixed(1),
      ...[withoutMb, residentMb, afterLoadMb, bytes.held, bytes.resident].map(whole),
    ]),
    words: 0,
  }
}

function workloadsIn(points: readonly Point[]): string[] {
  return [...new Set(points.flatMap(({ cost }) => Object.keys(cost)))].sort()
}

function costsOf(id: string, points: readonly Point[], kind: Kind): { n: number; value: number }[] {
  const some = points.filter((point) => point.kind === kind && point.cost[id])
  return some.map(({ n, cost }) => ({ n, value: cost[id]!.cpuMicros }))
}

/** Least-squares slope of the logarithms; requires at least two sizes. */
function slope(points: readonly { n: number; value: number }[]): number {
  const x = points.map(({ n }) => Math.log(n))
  const y = points.map(({ value }) => Math.log(value))
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [meanX, meanY] = [mean(x), mean(y)]
  const covariance = x.reduce((sum, value, i) => sum + (value - meanX) * (y[i]! - meanY), 0)
  return covariance / x.reduce((sum, value) => sum + (value - meanX) ** 2, 0)
}
