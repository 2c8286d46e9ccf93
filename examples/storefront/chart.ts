// The price chart as SVG without scripts, with the same points as a table.
import type { PriceChart } from '@mintmark/client'
import { html, type Html } from './html.ts'
import { money } from './money.ts'

const WIDTH = 640
const HEIGHT = 200
const DAY_MS = 86_400_000

interface Line {
  name: string
  points: { day: string; amount: number }[]
}

/** @param nameOf names of markets by code */
export function chartOf(chart: PriceChart, nameOf: ReadonlyMap<string, string>): Html {
  const lines = chart.series
    .map(({ market, points }): Line => {
      const converted = points.flatMap(({ day, converted: amount }) => (amount === null ? [] : [{ day, amount }]))
      return { name: nameOf.get(market) ?? market, points: converted }
    })
    .filter(({ points }) => points.length > 0)
  if (lines.length === 0) return html`<p>No prices in this range.</p>`
  const amounts = lines.flatMap(({ points }) => points.map(({ amount }) => amount))
  const [low, high] = [Math.min(...amounts), Math.max(...amounts)]
  const text = (amount: number) => money(amount, chart.currency)
  const summary = `${chart.label}, ${chart.from} to ${chart.to.slice(0, 10)}: lowest ${text(low)}, highest ${text(high)}`
  return html`<figure>
<p class="ends" aria-hidden="true">${text(high)}</p>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="Price chart, ${summary}">
${lines.map(({ points }, i) => html`<path class="line line-${i + 1}" d="${pathOf(points, chart, low, high)}"/>`)}
</svg>
<p class="ends" aria-hidden="true">${text(low)}</p>
<p class="ends" aria-hidden="true"><span>${chart.from}</span><span>${chart.to.slice(0, 10)}</span></p>
<figcaption><ul class="row">${lines.map(
    ({ name, points }, i) => html`<li><svg class="key" viewBox="0 0 32 8" aria-hidden="true"><path class="line line-${i + 1}" d="M0 4H32"/></svg>
${name}: ${text(points.at(-1)!.amount)}</li>`,
  )}</ul></figcaption>
</figure>
<details><summary>Data of the chart as a table</summary>${tableOf(lines, text)}</details>`
}

/** A price applies until the next one, the last until the end: steps. */
function pathOf(points: Line['points'], { from, to }: PriceChart, low: number, high: number): string {
  const [start, end] = [Date.parse(from), Math.max(Date.parse(to), Date.parse(from) + DAY_MS)]
  const x = (day: string) => (((Date.parse(day) - start) / (end - start)) * WIDTH).toFixed(1)
  const y = (amount: number) => (high === low ? HEIGHT / 2 : 4 + ((high - amount) / (high - low)) * (HEIGHT - 8)).toFixed(1)
  const [first, ...others] = points
  return `M${x(first!.day)} ${y(first!.amount)}${others.map(({ day, amount }) => `H${x(day)}V${y(amount)}`).join('')}H${WIDTH}`
}

function tableOf(lines: readonly Line[], text: (amount: number) => string): Html {
  const days = [...new Set(lines.flatMap(({ points }) => points.map(({ day }) => day)))].sort().reverse()
  const byDay = lines.map(({ points }) => new Map(points.map(({ day, amount }) => [day, amount])))
  const cell = (amount: number | undefined) => html`<td>${amount !== undefined && text(amount)}</td>`
  return html`<div class="wide" tabindex="0" role="region" aria-label="Data of the chart"><table>
<thead><tr><th scope="col">Day</th>${lines.map(({ name }) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${days.map((day) => html`<tr><th scope="row">${day}</th>${byDay.map((amounts) => cell(amounts.get(day)))}</tr>\n`)}</tbody></table></div>`
}
