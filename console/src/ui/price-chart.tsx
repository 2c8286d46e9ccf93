// Prices over time, one stepped line per label, with the same points as a table for people who cannot see lines.
import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { colours } from '#ui/theme.ts'
import { Status } from '#ui/states.tsx'
import { Table } from '#ui/table.tsx'
import { compact, date, day, locale, moment, month, t, term } from '../words.ts'

interface Point {
  label: string
  price: number
  updated_at: string
}

/** A price that is marked beside or on its line: one that is held, or the current one where something speaks against it. */
export interface Mark extends Point {
  state: 'held' | 'disputed' | 'stale'
}

interface PriceChartProps {
  /** oldest first */
  points: Point[]
  marks: Mark[]
  /** labels in the order in which they are listed */
  order: string[]
  show: (value: number) => string
}

const stepped = uPlot.paths.stepped!({ align: 1 })
const HEIGHT = 280
const MOST_LINES = 6
const TABLE_ROWS = 200
const DAY = 86_400
const MARK_COLOURS = { held: '--bad', disputed: '--wait', stale: '--quiet' } as const
/** A chart with fewer moments than this marks each of them. */
const SPARSE = 40

export function PriceChart({ points, marks, order, show }: PriceChartProps) {
  const labels = [...new Set([...order, ...[...points, ...marks].map((point) => point.label)])]
  const [shown, setShown] = useState(() => labels.slice(0, MOST_LINES))
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

/** Points and held prices in the order of time, each with its state where that is one to know. */
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
  const place = useRef<HTMLDivElement>(null)
  const repaint = colours.value
  // Drawn again for other points, lines, colours and languages; the rest are functions of these.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    const element = place.current!
    const style = getComputedStyle(element)
    const colour = (name: string) => style.getPropertyValue(name).trim()
    const grid = { stroke: colour('--rule'), width: 1 }
    const axis = { stroke: colour('--quiet'), grid, ticks: grid, font: '12px system-ui' }
    const marked = markedBy(marks, lines)
    const columns = columnsOf(points, lines, marked, Date.now() / 1000)
    const changes = changesBy(points, columns[0])
    const chart = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        padding: [12, 12, 0, 0],
        cursor: { y: false, points: { size: 7 } },
        legend: { live: true },
        scales: { x: { range: span(columns[0]) }, y: { range: { min: { pad: 0.1, soft: 0, mode: 2 }, max: { pad: 0.1 } } } },
        series: [
          { label: t('when'), value: (_chart, seconds) => (seconds === null ? '–' : date(new Date(seconds * 1000).toISOString())) },
          ...lines.map((label) => ({
            label,
            stroke: colour(colourOf(label).slice(4, -1)),
            width: 2,
            // A price holds until the next one: a sloped line would show prices that never were.
            paths: stepped,
            points: { show: columns[0].length < SPARSE, filter: only(changes.get(label) ?? []) },
            value: (_chart: uPlot, value: number | null) => (value === null ? '–' : show(value)),
          })),
          ...marked.map(({ label, state }) => ({
            label: t('markOf', { label, state: term('status', state) }),
            stroke: colour(MARK_COLOURS[state]),
            paths: () => null,
            // Held prices are hollow: they are not on the line.
            points: { show: true, size: 11, width: 2, fill: colour(state === 'held' ? '--page' : MARK_COLOURS[state]) },
            value: (_chart: uPlot, value: number | null) => (value === null ? '–' : show(value)),
          })),
        ],
        axes: [
          { ...axis, values: (_chart, splits) => splits.map((seconds) => dateTick(seconds, splits)) },
          { ...axis, size: 56, values: (_chart, splits) => splits.map((value) => compact(value)) },
        ],
      },
      columns,
      element,
    )
    const follow = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }))
    follow.observe(element)
    return () => {
      follow.disconnect()
      chart.destroy()
    }
  }, [points, marks, lines.join('\n'), repaint, locale.value])
  return <div ref={place} class="chart" role="img" aria-label={t('chartOf', { lines: lines.join(', ') })} />
}

/** From the first moment to the last; a month where these are close together. */
function span(times: ArrayLike<number>): [number, number] {
  const from = times[0] ?? 0
  const to = times[times.length - 1] ?? from
  return to - from < 2 * DAY ? [to - 30 * DAY, to] : [from, to]
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

/** The price of each label at every moment of a change of any, and at the end: a price holds until the next. Then the marks. */
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

/** Where in the times each label changed, which is where its line is marked. */
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

function only(indices: number[]): uPlot.Series.Points.Filter {
  return (_chart, _series, show) => (show ? indices : null)
}

function secondsOf(point: Point): number {
  return Date.parse(point.updated_at) / 1000
}

function dateTick(seconds: number, splits: number[]): string {
  const between = (splits.at(-1) ?? 0) - (splits[0] ?? 0)
  const at = new Date(seconds * 1000).toISOString()
  return between > 300 * DAY ? month(at) : day(at)
}
