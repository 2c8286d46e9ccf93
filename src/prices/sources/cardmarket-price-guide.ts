// The daily price guide of Cardmarket (JSON, EUR): the download of a whole game, and the same split by expansion.
import { FeedError, type FeedLine, type FeedSource, jsonEntries } from '#core/files/feed.ts'
import type { Market } from '#core/markets.ts'
import { problem, reason } from '#core/problems.ts'
import type { FeedRow, PriceFormat } from '#prices/records/feed-rows.ts'
import { figuresOf } from '#prices/records/feed-figures.ts'
import { type Cell, dayOf, figureOf, instantOf, nonZeroPrice } from './cells.ts'
import { addPrice, feedRows } from './rows.ts'

const MARKET: Market = 'source_b'
const EXPECTED = reason('file_format', { format: 'cardmarket-price-guide', values: ['version', 'createdAt', 'priceGuides'] })

// A product includes its foil version, in columns with a suffix: 0 means that there is none. The suffix is `-holo` for Pokémon, where it means
// reverse holo, and `-foil` for other games. The price is yielded with the finish, so that it only matches an item of that finish.
const FOILS = [
  ['-holo', 'reverse'],
  ['-foil', 'foil'],
] as const

interface GuideEntry {
  product: unknown
  time: Cell
}

export const cardmarketPriceGuide: PriceFormat = {
  name: 'cardmarket-price-guide',
  title: 'Cardmarket price guide (JSON): trend, else average, and the trend of the foil version, EUR',
  defaultMarket: MARKET,
  terms: { licence: 'Terms of Cardmarket' },
  // Trends and averages of Cardmarket are over cards of all conditions and languages.
  conditionKnown: () => false,
  marks: [{ type: 'json', names: ['priceGuides', 'idProduct'] }],
  read: (source, { market, nowMs }) => feedRows(guideEntries(source, nowMs), (entry, line, rows) => readEntry(entry, line, rows, market ?? MARKET)),
}

function readEntry({ product, time }: GuideEntry, line: number, rows: FeedRow[], market: Market) {
  const id = isObject(product) ? product.idProduct : null
  if (!isObject(product) || typeof id !== 'number' || !Number.isSafeInteger(id) || id < 1) {
    return void rows.push({ line, reject: problem('idProduct', 'required') })
  }
  const owner = { line, market, label: 'Near Mint' }
  const key = { source: 'cardmarket', id: String(id) }
  const price = nonZeroPrice(product.trend, 'trend') ?? nonZeroPrice(product.avg, 'avg')
  addPrice(rows, { ...owner, item: key, figures: figuresOfProduct(product, '') }, price, time)
  for (const [suffix, finish] of FOILS) {
    const column = `trend${suffix}`
    const foil = nonZeroPrice(product[column], column)
    if (foil !== null) addPrice(rows, { ...owner, item: { ...key, finish }, figures: figuresOfProduct(product, suffix) }, foil, time)
  }
}

function figuresOfProduct(product: Record<string, unknown>, suffix: string) {
  const of = (column: string) => figureOf(product[column + suffix])
  return figuresOf({ avg1: of('avg1'), avg7: of('avg7'), avg30: of('avg30'), low: of('low') })
}

const PATHS = ['createdAt', 'date', 'priceGuides.*'].flatMap((path) => [`$.${path}`, `$.*.${path}`])

/** Entries of all guides in the document, numbered consecutively; a guide's own date takes precedence over the time of reading. */
async function* guideEntries(source: FeedSource, nowMs: number): AsyncIterable<FeedLine<GuideEntry>[]> {
  let line = 0
  let guide = { position: -1, createdAt: null as Cell, date: null as Cell, begun: false }
  for await (const entries of jsonEntries(source, PATHS)) {
    const lines: FeedLine<GuideEntry>[] = []
    for (const { path, value } of entries) {
      const position = typeof path[0] === 'number' ? path[0] : 0
      const [name, index] = typeof path[0] === 'number' ? path.slice(1) : path
      if (position !== guide.position) guide = { position, createdAt: null, date: null, begun: false }
      if (name === 'priceGuides' && typeof index === 'number') {
        guide.begun = true
        line += 1
        lines.push({ line, value: { product: value, time: guide.createdAt ?? guide.date ?? nowMs } })
      } else if ((name === 'createdAt' || name === 'date') && index === undefined) {
        // Its prices have already been yielded with another time.
        if (guide.begun) throw new FeedError(problem(name, 'position', { field: 'priceGuides' }))
        guide[name] = name === 'date' ? dayOf(value, name) : instantOf(value, name)
      }
    }
    yield lines
  }
  if (line === 0) throw new FeedError(EXPECTED)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
