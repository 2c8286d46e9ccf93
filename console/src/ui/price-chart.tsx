// Prices over time, one line a label, with the same points as a table for whoever cannot see lines.
import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { colours } from '../theme.ts'
import { compact, date, day, locale, moment, month, t } from '../words.ts'
import { Table } from './table.tsx'

interface Point {
  label: string
  price: number
  updated_at: string
}

interface PriceChartProps {
  /** oldest first */
  points: Point[]
  /** labels in the order in which they are listed */
  order: string[]
  show: (value: number) => string
}

const HEIGHT = 280
const MOST_LINES = 6
const TABLE_ROWS = 200
/** with fewer moments than this, each is marked */
const DAY = 86_400
const SPARSE = 40

export function PriceChart({ points, order, show }: PriceChartProps) {
  const labels = [...new Set([...order, ...points.map((point) => point.label)])]
  const [shown, setShown] = useState(() => labels.slice(0, MOST_LINES))
  const toggle = (label: string) => setShown(shown.includes(label) ? shown.filter((one) => one !== label) : [...shown, label])
  const lines = labels.filter((label) => shown.includes(label))
  const colourOf = (label: string) => `var(--line-${(labels.indexOf(label) % 8) + 1})`
  const rows = points.filter((point) => shown.includes(point.label)).toReversed()
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
      <Drawing points={points} lines={lines} colourOf={colourOf} show={show} />
      <details>
        <summary>{t('asTable', { count: rows.length })}</summary>
        <Table
          caption={t('priceHistory')}
          rows={rows.slice(0, TABLE_ROWS)}
          rowKey={(point) => `${point.label} ${point.updated_at}`}
          columns={[
            { head: t('when'), cell: (point) => moment(point.updated_at) },
            { head: t('label'), cell: (point) => point.label },
            { head: t('price'), number: true, cell: (point) => show(point.price) },
          ]}
        />
        {rows.length > TABLE_ROWS && <p class="quiet">{t('andMore', { count: rows.length - TABLE_ROWS })}</p>}
      </details>
    </>
  )
}

interface DrawingProps extends Omit<PriceChartProps, 'order'> {
  lines: string[]
  colourOf: (label: string) => string
}

function Drawing({ points, lines, colourOf, show }: DrawingProps) {
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
    const columns = columnsOf(points, lines)
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
            spanGaps: true,
            points: { show: columns[0].length < SPARSE },
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
  }, [points, lines.join('\n'), repaint, locale.value])
  return <div ref={place} class="chart" role="img" aria-label={t('chartOf', { lines: lines.join(', ') })} />
}

/** From first to last moment; a single one stands in the middle of a month. */
function span(times: ArrayLike<number>): [number, number] {
  const from = times[0] ?? 0
  const to = times[times.length - 1] ?? from
  return to - from < 2 * DAY ? [from - 15 * DAY, to + 15 * DAY] : [from, to]
}

/** The points side by side over one time axis, as the chart takes them. */
function columnsOf(points: Point[], lines: string[]): uPlot.AlignedData {
  const times = [...new Set(points.filter((point) => lines.includes(point.label)).map((point) => Date.parse(point.updated_at) / 1000))].sort((a, b) => a - b)
  const at = new Map(times.map((time, index) => [time, index]))
  const columns = lines.map((label) => {
    const column: (number | null)[] = times.map(() => null)
    for (const point of points) if (point.label === label) column[at.get(Date.parse(point.updated_at) / 1000)!] = point.price
    return column
  })
  return [times, ...columns]
}

function dateTick(seconds: number, splits: number[]): string {
  const between = (splits.at(-1) ?? 0) - (splits[0] ?? 0)
  const at = new Date(seconds * 1000).toISOString()
  return between > 300 * DAY ? month(at) : day(at)
}
