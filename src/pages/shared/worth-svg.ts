// The worth of a shared collection by day as an SVG picture, to embed in other pages.
import { escapeHtml } from '../content/html.ts'
import type { SharedDaysView } from './shared-types.ts'
import type { Language } from '#http/language.ts'
import { moneyIn, WORDS } from './words.ts'

const WIDTH = 640
const HEIGHT = 240
const LEFT = 16
const RIGHT = WIDTH - 16
const TOP = 72
const BOTTOM = HEIGHT - 36
const DAY_MS = 86_400_000
const MAX_NAME = 48

export function worthSvg({ name, currency, days }: SharedDaysView, language: Language): string {
  const words = WORDS[language]
  const first = days[0]
  const last = days.at(-1)
  const title = [...name].length > MAX_NAME ? `${[...name].slice(0, MAX_NAME - 1).join('')}…` : name
  const amount = last && currency ? moneyIn(language, last.value, currency) : words.noDays
  const dayOf = (day: string) => new Date(day).toLocaleDateString(language, { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })
  const label = [name, words.worthByDay, amount].join(', ')
  const dates = first && last ? text(LEFT, HEIGHT - 14, 'quiet', dayOf(first.day)) + text(RIGHT, HEIGHT - 14, 'quiet end', dayOf(last.day)) : ''
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="${escapeHtml(label)}">
<style>${STYLE}</style>
<rect class="ground" x="0.5" y="0.5" width="${WIDTH - 1}" height="${HEIGHT - 1}" rx="8"/>
${text(LEFT, 30, 'name', title)}
${text(LEFT, 56, 'amount', amount)}
${days.length > 0 ? `<path class="line" d="${steps(days)}"/>` : ''}
${dates}
</svg>
`
}

function text(x: number, y: number, style: string, content: string): string {
  return `<text x="${x}" y="${y}" class="${style}">${escapeHtml(content)}</text>`
}

/** A figure holds for its whole day; after a day without one, the line starts anew. */
function steps(days: SharedDaysView['days']): string {
  const starts = days.map(({ day }) => Date.parse(day) / DAY_MS)
  const from = starts[0]!
  const span = starts.at(-1)! + 1 - from
  const values = days.map(({ value }) => value)
  const least = Math.min(...values)
  const range = Math.max(...values) - least
  const x = (day: number) => (LEFT + ((day - from) / span) * (RIGHT - LEFT)).toFixed(1)
  const y = (value: number) => (range === 0 ? (TOP + BOTTOM) / 2 : BOTTOM - ((value - least) / range) * (BOTTOM - TOP)).toFixed(1)
  return days
    .map(({ value }, i) => {
      const follows = i > 0 && starts[i]! - starts[i - 1]! === 1
      return `${follows ? 'L' : 'M'}${x(starts[i]!)} ${y(value)}H${x(starts[i]! + 1)}`
    })
    .join('')
}

// The picture is a document of its own: it follows the theme of its reader, not that of the page that embeds it.
const STYLE = `
text { font: 13px system-ui, sans-serif; fill: #1b211e; } .name { font-weight: 600; font-size: 15px; } .amount { font-size: 20px; }
.quiet { fill: #55605b; } .end { text-anchor: end; } .ground { fill: #fff; stroke: #d9dedb; } .line { fill: none; stroke: #0a6b4e; stroke-width: 2; }
@media (prefers-color-scheme: dark) {
text { fill: #e8ecea; } .quiet { fill: #a5b0ab; } .ground { fill: #161b19; stroke: #37403c; } .line { stroke: #5fd3a8; }
}`
