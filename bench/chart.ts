// SVG charts that are legible on light and dark pages.
import type { Comparison } from './compare.ts'

const STYLE = `<style>
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .panel { fill: #ffffff } .quiet { fill: #57606a } .grid { stroke: #d0d7de }
  .bar { fill: #0969da } .missed { fill: #bf8700 } .mark { stroke: #24292f; stroke-width: 2 }
  .line { fill: none; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .panel { fill: #0d1117 } .quiet { fill: #8d96a0 } .grid { stroke: #30363d }
    .bar { fill: #4493f8 } .missed { fill: #d29922 } .mark { stroke: #e6edf3 }
  }
</style>`
const LINES = ['#0969da', '#bf3989', '#1a7f37', '#bc4c00', '#8250df', '#9a6700', '#57606a']

const WIDTH = 860
const LABELS = 400
const FIGURES = 120
const ROW = 22
const TOP = 40

/** Bars of the share of bare node:http, with a mark at each goal. */
export function shareChart(comparisons: readonly Comparison[], caption: string): string {
  const most = Math.max(0.5, ...comparisons.map(({ shareOfBare, goal }) => Math.max(shareOfBare, goal ?? 0)))
  const scale = (WIDTH - LABELS - FIGURES) / most
  const height = TOP + comparisons.length * ROW + 12
  const rows = comparisons.map(({ id, title, shareOfBare, goal }, i) => {
    const y = TOP + i * ROW
    const missed = goal !== null && shareOfBare < goal
    const mark = goal === null ? '' : vertical(LABELS + goal * scale, y + 1, y + ROW - 3, 'mark')
    return `${text(LABELS - 10, y + 15, `${id}  ${title}`, 'end')}
<rect class="${missed ? 'missed' : 'bar'}" x="${LABELS}" y="${y + 3}" width="${number(shareOfBare * scale)}" height="${ROW - 8}" rx="2"/>
${mark}${text(WIDTH - 16, y + 15, `${shareOfBare.toFixed(2)}${goal === null ? '' : ` of ${goal.toFixed(2)}`}`, 'end')}`
  })
  return svg(WIDTH, height, caption, [text(16, 24, caption, 'start', 'quiet'), ...rows])
}

export interface Curve {
  name: string
  points: { n: number; value: number }[]
}

export interface Panel {
  title: string
  curves: Curve[]
}

const PANEL = { width: 430, height: 300, left: 48, right: 84, top: 48, bottom: 32 }

/** Curves side by side, both axes logarithmic. */
export function curvesChart(panels: readonly Panel[], caption: string): string {
  const parts = panels.map((panel, i) => `<g transform="translate(${i * PANEL.width} 0)">${curvesOf(panel).join('\n')}</g>`)
  return svg(panels.length * PANEL.width, PANEL.height, caption, parts)
}

function curvesOf({ title, curves }: Panel): string[] {
  const points = curves.flatMap((curve) => curve.points)
  const x = axis(
    points.map(({ n }) => n),
    PANEL.left,
    PANEL.width - PANEL.right,
  )
  const y = axis(
    points.map(({ value }) => value),
    PANEL.height - PANEL.bottom,
    PANEL.top,
  )
  const labels = apart(curves.map(({ points: own }) => y.at(own.at(-1)!.value)))
  return [
    text(PANEL.left, 24, title, 'start', 'quiet'),
    ...x.decades.flatMap((n) => [
      vertical(x.at(n), PANEL.top, PANEL.height - PANEL.bottom, 'grid'),
      text(x.at(n), PANEL.height - 12, short(n), 'middle'),
    ]),
    ...y.decades.flatMap((value) => [
      `<line class="grid" x1="${PANEL.left}" x2="${PANEL.width - PANEL.right}" y1="${number(y.at(value))}" y2="${number(y.at(value))}"/>`,
      text(PANEL.left - 6, y.at(value) + 4, short(value), 'end'),
    ]),
    ...curves.map(({ points: own, name }, i) => {
      const path = own.map(({ n, value }) => `${number(x.at(n))},${number(y.at(value))}`).join(' ')
      const colour = LINES[i % LINES.length]
      const dots = own.map(({ n, value }) => `<circle cx="${number(x.at(n))}" cy="${number(y.at(value))}" r="3" fill="${colour}"/>`).join('')
      const label = text(PANEL.width - PANEL.right + 8, labels[i]! + 4, name, 'start')
      return `<polyline class="line" stroke="${colour}" points="${path}"/>${dots}${label}`
    }),
  ]
}

/** Positions of values on a logarithmic axis with whole decades. */
function axis(values: number[], from: number, to: number): { at: (value: number) => number; decades: number[] } {
  const lowest = Math.floor(Math.log10(Math.min(...values)))
  const highest = Math.max(lowest + 1, Math.ceil(Math.log10(Math.max(...values))))
  const decades = Array.from({ length: highest - lowest + 1 }, (_, i) => 10 ** (lowest + i))
  return { decades, at: (value) => from + ((Math.log10(value) - lowest) / (highest - lowest)) * (to - from) }
}

/** Moves labels apart by at least one line of text. */
function apart(heights: number[]): number[] {
  const result = [...heights]
  let above = -Infinity
  for (const i of heights.map((_, i) => i).sort((a, b) => heights[a]! - heights[b]!)) {
    result[i] = Math.max(heights[i]!, above + 14)
    above = result[i]!
  }
  return result
}

function svg(width: number, height: number, caption: string, parts: string[]): string {
  const size = `viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"`
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="${escaped(caption)}">
${STYLE}
<rect class="panel" width="${width}" height="${height}" rx="6"/>
${parts.join('\n')}
</svg>
`
}

function text(x: number, y: number, content: string, anchor: 'start' | 'middle' | 'end', kind = ''): string {
  return `<text x="${number(x)}" y="${number(y)}" text-anchor="${anchor}"${kind ? ` class="${kind}"` : ''}>${escaped(content)}</text>`
}

function vertical(x: number, from: number, to: number, kind: string): string {
  return `<line class="${kind}" x1="${number(x)}" x2="${number(x)}" y1="${number(from)}" y2="${number(to)}"/>`
}

function short(value: number): string {
  return value >= 1e6 ? `${value / 1e6}M` : value >= 1e3 ? `${value / 1e3}k` : String(value)
}

function number(value: number): string {
  return String(Math.round(value * 10) / 10)
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
