// A chart of amounts that hold until they change: stepped lines and separate marks. Loaded only by pages that show one.
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { colours } from './colours.ts'
import { type MarkShape, shapePath } from './mark-shapes.ts'
import { date, day, locale, money, moneyTick, month, t } from './words.ts'

/** A line, or marks without a line, in a colour of the style sheet such as `--line-1`. */
export type ChartSeries = { label: string; colour: string } & (
  | {
      kind: 'line'
      /** indices of the marked points; null for none */
      dots: number[] | null
      /** lengths of dashes and gaps in pixels; default: a solid line */
      dash?: readonly number[]
    }
  | { kind: 'marks'; shape: MarkShape }
)

export interface StepChartProps {
  /** description for screen readers */
  label: string
  /** times in seconds, then the values of each of `drawn`, null for none */
  columns: uPlot.AlignedData
  drawn: ChartSeries[]
  currency: string
  /** reports the index of the time under the pointer, null for none; the chart then has no legend of its own */
  onPoint?: (index: number | null) => void
}

const stepped = uPlot.paths.stepped!({ align: 1 })
const HEIGHT = 280
const DAY = 86_400
const MARK_SIZE = 11
/** Width of a character of the axes, and of their ticks and gaps. */
const [CHARACTER, TICKS] = [7, 24]

/** Redraws when columns, colours or the language change; pass the same `columns` object otherwise. */
export function StepChart({ label, columns, drawn, currency, onPoint }: StepChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const repaint = colours.value
  // The other values depend on these.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    const element = place.current!
    const colour = (name: string) => colourOf(element, name)
    const grid = { stroke: colour('--rule'), width: 1 }
    const axis = { stroke: colour('--quiet'), grid, ticks: grid, font: '12px system-ui' }
    const value = (_chart: uPlot, shown: number | null) => (shown === null ? '–' : money(shown, currency))
    const chart = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        padding: [12, 24, 0, 0],
        cursor: { y: false, points: { size: 7 } },
        legend: onPoint ? { show: false } : { live: true },
        hooks: onPoint ? { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] } : {},
        scales: { x: { range: span(columns[0]) }, y: { range: { min: { pad: 0.1, soft: 0, mode: 2 }, max: { pad: 0.1 } } } },
        series: [
          { label: t('when'), value: (_chart, seconds) => (seconds === null ? '–' : date(new Date(seconds * 1000).toISOString())) },
          ...drawn.map((one) => ({ label: one.label, stroke: colour(one.colour), width: 2, value, ...seriesOf(one, colour) })),
        ],
        axes: [
          { ...axis, values: (_chart, splits) => splits.map((seconds) => dateTick(seconds, splits)) },
          {
            ...axis,
            label: currency,
            labelSize: 20,
            labelFont: axis.font,
            size: (_chart, ticks) => TICKS + CHARACTER * Math.max(3, ...(ticks ?? []).map((tick) => tick.length)),
            values: (_chart, splits) => splits.map((split) => moneyTick(split, currency)),
          },
        ],
      },
      columns,
      element,
    )
    const follow = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }))
    follow.observe(element)
    return () => {
      follow.disconnect()
      onPoint?.(null)
      chart.destroy()
    }
  }, [columns, repaint, locale.value])
  return <div ref={place} class="chart" role="img" aria-label={label} />
}

/** The value of a colour of the style sheet, which may be different in light and dark, as a canvas needs it. */
function colourOf(element: HTMLElement, name: string): string {
  element.style.color = `var(${name})`
  const { color } = getComputedStyle(element)
  element.style.color = ''
  return color
}

function seriesOf(one: ChartSeries, colour: (name: string) => string): uPlot.Series {
  if (one.kind === 'marks') {
    const { shape } = one
    const fill = shape === 'diamond' ? colour('--sheet') : colour(one.colour)
    return { paths: () => null, points: { show: true, size: MARK_SIZE, width: 2, fill, paths: marksOf(shape) } }
  }
  // A value holds until the next one: a sloped line would show values that never existed.
  const points = { show: one.dots !== null, filter: (_chart: uPlot, _series: number, shows: boolean) => (shows ? one.dots : null) }
  return { paths: stepped, points, ...(one.dash && { dash: [...one.dash] }) }
}

/** Draws a shape at each value of a series. */
function marksOf(shape: MarkShape): uPlot.Series.Points.PathBuilder {
  return (chart, series, from, to) => {
    const path = new Path2D()
    const size = MARK_SIZE * devicePixelRatio
    for (let index = from; index <= to; index += 1) {
      const value = chart.data[series]![index]
      if (value == null) continue
      const [x, y] = [chart.valToPos(chart.data[0][index]!, 'x', true), chart.valToPos(value, 'y', true)]
      const place = new DOMMatrix([size / 10, 0, 0, size / 10, x - size / 2, y - size / 2])
      path.addPath(new Path2D(shapePath[shape]), place)
    }
    return { stroke: path, fill: path }
  }
}

/** From the first time to the last; a month if these are less than two days apart. */
function span(times: ArrayLike<number>): [number, number] {
  const from = times[0] ?? 0
  const to = times[times.length - 1] ?? from
  return to - from < 2 * DAY ? [to - 30 * DAY, to] : [from, to]
}

function dateTick(seconds: number, splits: number[]): string {
  const between = (splits.at(-1) ?? 0) - (splits[0] ?? 0)
  const at = new Date(seconds * 1000).toISOString()
  return between > 300 * DAY ? month(at) : day(at)
}
