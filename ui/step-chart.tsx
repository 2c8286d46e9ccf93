// A chart of values that hold until they change: stepped lines and separate marks. Loaded only by pages that show one.
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { colours } from './theme.ts'
import { compact, date, day, locale, month, t } from './words.ts'

/** A line, or marks without a line, in a colour of the style sheet such as `--line-1`. */
export type ChartSeries = { label: string; colour: string } & (
  | {
      kind: 'line'
      /** indices of the marked points; null for none */
      dots: number[] | null
    }
  | { kind: 'marks'; hollow: boolean }
)

interface StepChartProps {
  /** description for screen readers */
  label: string
  /** times in seconds, then the values of each of `drawn`, null for none */
  columns: uPlot.AlignedData
  drawn: ChartSeries[]
  show: (value: number) => string
}

const stepped = uPlot.paths.stepped!({ align: 1 })
const HEIGHT = 280
const DAY = 86_400

/** Redraws when columns, colours or the language change; pass the same `columns` object otherwise. */
export function StepChart({ label, columns, drawn, show }: StepChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const repaint = colours.value
  // The other values depend on these.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    const element = place.current!
    const style = getComputedStyle(element)
    const colour = (name: string) => style.getPropertyValue(name).trim()
    const grid = { stroke: colour('--rule'), width: 1 }
    const axis = { stroke: colour('--quiet'), grid, ticks: grid, font: '12px system-ui' }
    const value = (_chart: uPlot, shown: number | null) => (shown === null ? '–' : show(shown))
    const chart = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        padding: [12, 24, 0, 0],
        cursor: { y: false, points: { size: 7 } },
        legend: { live: true },
        scales: { x: { range: span(columns[0]) }, y: { range: { min: { pad: 0.1, soft: 0, mode: 2 }, max: { pad: 0.1 } } } },
        series: [
          { label: t('when'), value: (_chart, seconds) => (seconds === null ? '–' : date(new Date(seconds * 1000).toISOString())) },
          ...drawn.map((one) => ({ label: one.label, stroke: colour(one.colour), width: 2, value, ...seriesOf(one, colour) })),
        ],
        axes: [
          { ...axis, values: (_chart, splits) => splits.map((seconds) => dateTick(seconds, splits)) },
          { ...axis, size: 56, values: (_chart, splits) => splits.map((split) => compact(split)) },
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
  }, [columns, repaint, locale.value])
  return <div ref={place} class="chart" role="img" aria-label={label} />
}

function seriesOf(one: ChartSeries, colour: (name: string) => string): uPlot.Series {
  if (one.kind === 'marks') return { paths: () => null, points: { show: true, size: 11, width: 2, fill: colour(one.hollow ? '--page' : one.colour) } }
  // A value holds until the next one: a sloped line would show values that never existed.
  return { paths: stepped, points: { show: one.dots !== null, filter: (_chart, _series, shows) => (shows ? one.dots : null) } }
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
