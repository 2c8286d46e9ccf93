// What a price chart draws: a line for each source, marks for states and sales, and the same data as rows of a table.
import type uPlot from 'uplot'
import type { PriceChart } from '../client/src/api.ts'
import { MARKETS } from '../src/core/markets.ts'
import type { MarkShape } from './mark-shapes.ts'
import type { ChartSeries } from './step-chart.tsx'
import { startOfDay } from './time-zone.ts'
import { t, termText } from './words.ts'

type Series = PriceChart['series'][number]
type Market = Series['market']
type State = NonNullable<Series['points'][number]['state']>
/** What a shape stands for. */
export type MarkKind = Exclude<State, 'trusted' | 'unproven'> | 'sale'

export const MARK_SHAPES: Record<MarkKind, MarkShape> = { disputed: 'triangle', stale: 'square', held: 'diamond', sale: 'dot' }
const SALE_COLOUR = '--ink'
/** Dashes by position of the source; the first line is solid. */
const DASHES: (readonly number[])[] = [[], [10, 4], [3, 3], [12, 4, 3, 4]]
/** With fewer times than this, each change of a line is marked; a single one always is, because its line may be too short to see. */
const SPARSE = 40

/** Colour and dashes of a source: the same on all pages, by its position among the markets. */
export function styleOf(market: Market): { colour: string; dash: readonly number[] } {
  const position = MARKETS.indexOf(market)
  return { colour: `--line-${position + 1}`, dash: DASHES[position]! }
}

export interface Drawing {
  columns: uPlot.AlignedData
  drawn: ChartSeries[]
  /** position of the column of each drawn line */
  lines: Map<Market, number>
  kinds: MarkKind[]
  /** index of the end of the range; only held prices may be later */
  now: number
}

interface Mark {
  kind: MarkKind
  colour: string
  label: string
  at: number
  value: number
}

/**
 * The drawing starts with the first data of the range, so that a short history fills it.
 * @param hidden sources whose lines are not drawn
 */
export function drawingOf({ series, sales, to }: PriceChart, hidden: readonly Market[]): Drawing {
  const visible = series.filter(({ market }) => !hidden.includes(market))
  const marks = [...visible.flatMap(stateMarks), ...(sales ?? []).flatMap(saleMark)]
  const end = Date.parse(to) / 1000
  const days = visible.flatMap(({ points }) => points.map(({ day }) => secondsOf(day)))
  const times = [...new Set([end, ...days, ...marks.map(({ at }) => at)])].sort((a, b) => a - b)
  const groups = [...Map.groupBy(marks, ({ kind, colour }) => `${kind} ${colour}`).values()]
  const lines = visible.map((one): ChartSeries => {
    const { colour, dash } = styleOf(one.market)
    const changes = one.points.filter(({ state }) => state !== 'held').map(({ day }) => times.indexOf(secondsOf(day)))
    return { kind: 'line', label: termText('market', one.market), colour, dash, dots: times.length < SPARSE || changes.length === 1 ? changes : null }
  })
  const drawn = groups.map(([first]): ChartSeries => ({ ...first!, kind: 'marks', shape: MARK_SHAPES[first!.kind] }))
  return {
    columns: [times, ...visible.map((one) => lineOf(one, times)), ...groups.map((group) => valuesAt(times, group))],
    drawn: [...lines, ...drawn],
    lines: new Map(visible.map(({ market }, index) => [market, index + 1])),
    kinds: [...new Set(marks.map(({ kind }) => kind))],
    now: times.indexOf(end),
  }
}

/** A price holds until the next one; where it cannot be converted, the line has a gap. */
function lineOf({ points }: Series, times: readonly number[]): (number | null)[] {
  const prices = new Map(points.filter(({ state }) => state !== 'held').map(({ day, converted }) => [secondsOf(day), converted]))
  let price: number | null = null
  return times.map((time) => (price = prices.has(time) ? prices.get(time)! : price))
}

function stateMarks({ market, points }: Series): Mark[] {
  return points.flatMap(({ day, converted, state }) => {
    if (state === null || state === 'trusted' || state === 'unproven' || converted === null) return []
    const label = t('markOf', { label: termText('market', market), state: termText('status', state) })
    return [{ kind: state, colour: styleOf(market).colour, label, at: secondsOf(day), value: converted }]
  })
}

function saleMark({ at, converted }: NonNullable<PriceChart['sales']>[number]): Mark[] {
  if (converted === null) return []
  return [{ kind: 'sale', colour: SALE_COLOUR, label: t('sale'), at: Date.parse(at) / 1000, value: converted }]
}

function valuesAt(times: readonly number[], marks: readonly Mark[]): (number | null)[] {
  const values = new Map(marks.map(({ at, value }) => [at, value]))
  return times.map((time) => values.get(time) ?? null)
}

/** Midnight in the time zone of the pages, so that the chart has the same days as the table. */
function secondsOf(day: string): number {
  return startOfDay(day, 0).getTime() / 1000
}

export interface ChartRow {
  key: string
  /** a day, or the time of a sale */
  at: string
  /** null for a sale */
  market: Market | null
  amount: number
  currency: string
  converted: number | null
  kind: MarkKind | 'trusted' | 'unproven' | null
}

/** All points and sales, newest first. */
export function rowsOf({ series, sales }: PriceChart): ChartRow[] {
  const prices = series.flatMap(({ market, currency, points }) =>
    points.map(({ day, amount, converted, state }, index): ChartRow => {
      return { key: `${market} ${index}`, at: day, market, amount, currency, converted, kind: state }
    }),
  )
  const sold = (sales ?? []).map((sale, index): ChartRow => ({ ...sale, key: `sale ${index}`, market: null, kind: 'sale' }))
  return [...prices, ...sold].sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
}
