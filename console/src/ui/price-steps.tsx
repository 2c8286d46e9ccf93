// The history of one price as a small stepped line, with held and disputed prices marked.
import type { PricePoint } from '../api-types.ts'
import { date, t, termText } from '../words.ts'

interface Mark {
  price: number
  updated_at: string
  state: 'held' | 'disputed' | 'stale'
}

interface PriceStepsProps {
  /** oldest first */
  points: Pick<PricePoint, 'price' | 'updated_at'>[]
  marks: Mark[]
  show: (value: number) => string
}

const WIDTH = 240
const HEIGHT = 80
const MARGIN = 7
const MONTH_MS = 30 * 86_400_000

/** A price holds until the next one; the last one until now. */
export function PriceSteps({ points, marks, show }: PriceStepsProps) {
  const all = [...points, ...marks]
  if (all.length === 0) return null
  const times = all.map(timeOf)
  const to = Math.max(Date.now(), ...times)
  const from = Math.min(to - MONTH_MS, ...times)
  const highest = Math.max(...all.map((point) => point.price))
  const x = (ms: number) => round(MARGIN + ((ms - from) / (to - from)) * (WIDTH - 2 * MARGIN))
  const y = (price: number) => round(HEIGHT - MARGIN - (price / highest) * (HEIGHT - 2 * MARGIN))
  const steps = points.map((point, i) => (i === 0 ? `M${x(timeOf(point))} ${y(point.price)}` : `H${x(timeOf(point))}V${y(point.price)}`))
  const last = points.at(-1)
  const described = [
    ...(last ? [t('stepsOf', { count: points.length, first: show(points[0]!.price), last: show(last.price) })] : []),
    ...marks.map((mark) => `${termText('status', mark.state)}: ${show(mark.price)}, ${date(mark.updated_at)}`),
  ]
  return (
    <svg class="steps" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={described.join('; ')}>
      {last && <path d={`${steps.join('')}H${x(to)}`} />}
      {marks.map((mark) => (
        <circle key={`${mark.updated_at} ${mark.price}`} class={mark.state} cx={x(timeOf(mark))} cy={y(mark.price)} r="4" />
      ))}
    </svg>
  )
}

function timeOf({ updated_at: at }: { updated_at: string }): number {
  return Date.parse(at)
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
