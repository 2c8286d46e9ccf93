// A small bar chart over days, with the same numbers as a table for screen readers.
import { day, t } from './words.ts'

interface BarsProps {
  title: string
  days: { day: string; value: number }[]
  show: (value: number) => string
}

const HEIGHT = 56

export function Bars({ title, days, show }: BarsProps) {
  const most = Math.max(...days.map((entry) => entry.value), 0)
  const step = 100 / Math.max(days.length, 1)
  return (
    <figure class="bars">
      <svg viewBox={`0 0 100 ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {days.map(({ day: at, value }, index) => {
          const height = value === 0 ? 0.8 : Math.max((value / most) * HEIGHT, 2)
          return (
            <rect key={at} x={index * step + step * 0.12} y={HEIGHT - height} width={step * 0.76} height={height}>
              <title>{`${day(at)}: ${show(value)}`}</title>
            </rect>
          )
        })}
      </svg>
      <figcaption>
        <span>{days[0] ? day(days[0].day) : ''}</span>
        <span>{most > 0 && t('most', { value: show(most) })}</span>
        <span>{days.length > 0 ? day(days.at(-1)!.day) : ''}</span>
      </figcaption>
      {/* Hidden tables keep the height of their rows, so the box around the table is hidden instead. */}
      <div class="hidden">
        <table>
          <caption>{title}</caption>
          <tbody>
            {days.map(({ day: at, value }) => (
              <tr key={at}>
                <th scope="row">{day(at)}</th>
                <td>{show(value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  )
}
