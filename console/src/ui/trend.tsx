// A line chart over days with the previous period dashed and gaps for unknown values, and the same numbers as a table.
import { day, t } from '../words.ts'

interface DayValue {
  day: string
  /** null if unknown, which is not 0 */
  value: number | null
}

export interface TrendProps {
  title: string
  /** oldest first */
  days: DayValue[]
  /** the previous period, of the same length */
  before: DayValue[]
  show: (value: number) => string
}

const HEIGHT = 60
/** Half the width of the mark for a day between two unknown ones. */
const LONE = 0.3

export function Trend({ title, days, before, show }: TrendProps) {
  const most = Math.max(0, ...[...days, ...before].map(({ value }) => value ?? 0))
  const step = 100 / days.length
  const x = (index: number) => (index + 0.5) * step
  const y = (value: number) => (most === 0 ? HEIGHT - 1 : HEIGHT - 1 - (value / most) * (HEIGHT - 4))
  return (
    <figure class="trend">
      <svg viewBox={`0 0 100 ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <path class="before" d={pathOf(before, x, y)} />
        <path d={pathOf(days, x, y)} />
        {days.map(({ day: at, value }, index) => (
          <rect key={at} x={index * step} y={0} width={step} height={HEIGHT}>
            <title>{`${day(at)}: ${formatValue(value, show)}\n${day(before[index]!.day)}: ${formatValue(before[index]!.value, show)}`}</title>
          </rect>
        ))}
      </svg>
      <figcaption>
        <span>{day(days[0]!.day)}</span>
        <span>{most > 0 && t('most', { value: show(most) })}</span>
        <span>{day(days.at(-1)!.day)}</span>
      </figcaption>
      <p class="quiet key">
        <span class="now">{t('thisPeriod')}</span> <span class="before">{t('periodBefore')}</span>
      </p>
      {/* Hidden tables keep the height of their rows, so the box around the table is hidden instead. */}
      <div class="hidden">
        <table>
          <caption>{title}</caption>
          <thead>
            <tr>
              <th scope="col">{t('day')}</th>
              <th scope="col">{t('thisPeriod')}</th>
              <th scope="col">{t('periodBefore')}</th>
            </tr>
          </thead>
          <tbody>
            {days.map(({ day: at, value }, index) => (
              <tr key={at}>
                <th scope="row">{day(at)}</th>
                <td>{formatValue(value, show)}</td>
                <td>{formatValue(before[index]!.value, show)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  )
}

function formatValue(value: number | null, show: (value: number) => string): string {
  return value === null ? t('notKnown') : show(value)
}

/** Connects consecutive days; gaps remain gaps. */
function pathOf(days: DayValue[], x: (index: number) => number, y: (value: number) => number): string {
  const hasValue = (index: number) => days[index]?.value != null
  return days
    .map(({ value }, index) => {
      if (value === null) return ''
      const height = y(value).toFixed(2)
      if (hasValue(index - 1)) return `L${x(index).toFixed(2)} ${height}`
      if (hasValue(index + 1)) return `M${x(index).toFixed(2)} ${height}`
      return `M${(x(index) - LONE).toFixed(2)} ${height}H${(x(index) + LONE).toFixed(2)}`
    })
    .join('')
}
