// Prices over time, one stepped line per label, and the same points as a table for screen readers.
import { useMemo, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import { Status } from '#ui/states.tsx'
import { type ChartSeries, StepChart } from '#ui/step-chart.tsx'
import { Table } from '#ui/table.tsx'
import { moment, t, termText } from '../words.ts'

interface Point {
  label: string
  price: number
  updated_at: string
}

/** A price marked on or beside its line: a held one, or a current one that is disputed or stale. */
export interface Mark extends Point {
  state: 'held' | 'disputed' | 'stale'
}

interface PriceChartProps {
  /** oldest first */
  points: Point[]
  marks: Mark[]
  /** labels in listing order */
  order: string[]
  show: (value: number) => string
}

const MAX_LINES = 6
const TABLE_ROWS = 200
const MARK_COLOURS = { held: '--bad', disputed: '--wait', stale: '--quiet' } as const
/** With fewer times than this, each one is marked. */
const SPARSE = 40

export function PriceChart({ points, marks, order, show }: PriceChartProps) {
  const labels = [...new Set([...order, ...[...points, ...marks].map((point) => point.label)])]
  const [shown, setShown] = useState(() => labels.slice(0, MAX_LINES))
  const toggle = (label: string) => setShown(shown.includes(label) ? shown.filter((one) => one !== label) : [...shown, label])
  const lines = labels.filter((label) => shown.includes(label))
  const colourOf = (label: string) => `var(--line-${(labels.indexOf(label) % 8) + 1})`
  const rows = rowsOf(points, marks)
    .filter((point) => shown.includes(point.label))
    .toReversed()
  return (
    <>
      <fieldset class="choices">
        <legend class="hidden">{t('labels')}</legend>
        {labels.map((label) => (
          <button key={label} type="button" aria-pressed={shown.includes(label)} onClick={() => toggle(label)}>
            <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
              <circle cx="5" cy="5" r="5" style={{ fill: colourOf(label) }} />
            </svg>
            {label}
          </button>
        ))}
      </fieldset>
      <Drawing points={points} marks={marks} lines={lines} colourOf={colourOf} show={show} />
      <details>
        <summary>{t('asTable', { count: rows.length })}</summary>
        <Table
          caption={t('priceHistory')}
          rows={rows.slice(0, TABLE_ROWS)}
          rowKey={(point) => `${point.label} ${point.updated_at} ${point.state} ${point.price}`}
          columns={[
            { head: t('when'), cell: (point) => moment(point.updated_at) },
            { head: t('label'), cell: (point) => point.label },
            { head: t('price'), number: true, cell: (point) => show(point.price) },
            { head: t('state'), short: true, cell: (point) => point.state && <Status code={point.state} /> },
          ]}
        />
        {rows.length > TABLE_ROWS && <p class="quiet">{t('andMore', { count: rows.length - TABLE_ROWS })}</p>}
      </details>
    </>
  )
}

/** Points and held prices in chronological order, with their state if it matters. */
function rowsOf(points: Point[], marks: Mark[]): (Point & { state?: Mark['state'] })[] {
  const held = marks.filter(({ state }) => state === 'held')
  const stateOf = (point: Point) =>
    marks.find((mark) => mark.state !== 'held' && mark.label === point.label && mark.updated_at === point.updated_at)?.state
  return [...points.map((point) => ({ ...point, state: stateOf(point) })), ...held].sort((a, b) => secondsOf(a) - secondsOf(b))
}

interface DrawingProps extends Omit<PriceChartProps, 'order'> {
  lines: string[]
  colourOf: (label: string) => string
}

function Drawing({ points, marks, lines, colourOf, show }: DrawingProps) {
  const marked = markedBy(marks, lines)
  // The other values depend on these.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  const columns = useMemo(() => columnsOf(points, lines, marked, Date.now() / 1000), [points, marks, lines.join('\n')])
  const changes = changesBy(points, columns[0])
  const drawn: ChartSeries[] = [
    ...lines.map((label): ChartSeries => {
      const dots = columns[0].length < SPARSE ? (changes.get(label) ?? []) : null
      return { kind: 'line', label, colour: colourOf(label).slice(4, -1), dots }
    }),
    // Held prices are hollow because they are not part of the line.
    ...marked.map(({ label, state }): ChartSeries => {
      return { kind: 'marks', label: t('markOf', { label, state: termText('status', state) }), colour: MARK_COLOURS[state], hollow: state === 'held' }
    }),
  ]
  return <StepChart label={t('chartOf', { lines: lines.join(', ') })} columns={columns} drawn={drawn} show={show} />
}

/** The marks of one label and state. */
interface Marked {
  label: string
  state: Mark['state']
  marks: Mark[]
}

function markedBy(marks: Mark[], lines: string[]): Marked[] {
  const groups = Map.groupBy(
    marks.filter((mark) => lines.includes(mark.label)),
    ({ label, state }) => `${state} ${label}`,
  )
  return [...groups.values()].map((group) => ({ label: group[0]!.label, state: group[0]!.state, marks: group }))
}

/** The price of each label at each time any of them changes, and at the end: a price holds until the next. Then the marks. */
function columnsOf(points: Point[], lines: string[], marked: Marked[], end: number): uPlot.AlignedData {
  const shown = [...points.filter((point) => lines.includes(point.label)), ...marked.flatMap(({ marks }) => marks)]
  const last = Math.max(end, ...shown.map(secondsOf))
  const times = [...new Set([...shown.map(secondsOf), ...(shown.length > 0 ? [last] : [])])].sort((a, b) => a - b)
  const columns = lines.map((label) => {
    const prices = new Map(shown.filter((point) => point.label === label).map((point) => [secondsOf(point), point.price]))
    let price: number | null = null
    return times.map((time) => (price = prices.get(time) ?? price))
  })
  const markColumns = marked.map(({ marks }) => {
    const prices = new Map(marks.map((mark) => [secondsOf(mark), mark.price]))
    return times.map((time) => prices.get(time) ?? null)
  })
  return [times, ...columns, ...markColumns]
}

/** Indices of the times at which each label changed, where its line is marked. */
function changesBy(points: Point[], times: ArrayLike<number>): Map<string, number[]> {
  const at = new Map(Array.from(times, (time, index) => [time, index]))
  const changes = new Map<string, number[]>()
  for (const point of points) {
    const index = at.get(secondsOf(point))
    if (index === undefined) continue
    const known = changes.get(point.label)
    if (known) known.push(index)
    else changes.set(point.label, [index])
  }
  return changes
}

function secondsOf(point: Point): number {
  return Date.parse(point.updated_at) / 1000
}
