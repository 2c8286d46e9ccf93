// The daily price guide of Cardmarket (JSON, EUR): the whole-game download, and the same cut up by expansion.
import { FeedError, type FeedLine, type FeedSource, jsonDocument } from '#core/feed.ts'
import type { Market } from '#core/markets.ts'
import type { FeedRow, PriceFormat } from '#prices/records.ts'
import { type Cell, dayOf, instantOf, priceUnlessZero } from './cells.ts'
import { addPrice, feedRows } from './rows.ts'

const MARKET: Market = 'source_b'
const BATCH = 1_000
const EXPECTED =
  'this is no Cardmarket price guide: {version, createdAt, priceGuides: [...]} or an array of such is expected'

// A product covers its foil version, too, in columns with a suffix: 0 there means that there is none. The suffix is
// `-holo` for Pokémon, where it is the reverse holo, and `-foil` for other games. The price goes out with the finish, so
// that it can only meet an item of that finish.
const FOILS = [
  ['trend-holo', 'reverse'],
  ['trend-foil', 'foil'],
] as const

interface GuideEntry {
  product: unknown
  time: Cell
}

export const cardmarketPriceGuide: PriceFormat = {
  name: 'cardmarket-price-guide',
  title: 'Cardmarket price guide (JSON): trend, else average, and the trend of the foil version, EUR',
  defaultMarket: MARKET,
  read: (source, { market, nowMs }) =>
    feedRows(guideEntries(source, nowMs), (entry, line, rows) => readEntry(entry, line, rows, market ?? MARKET)),
}

function readEntry({ product, time }: GuideEntry, line: number, rows: FeedRow[], market: Market) {
  const id = isObject(product) ? product.idProduct : null
  if (!isObject(product) || typeof id !== 'number' || !Number.isSafeInteger(id) || id < 1) {
    return void rows.push({ line, reject: 'idProduct: a product id is missing' })
  }
  const owner = { line, market, label: 'Near Mint' }
  const key = { source: 'cardmarket', id: String(id) }
  const price = priceUnlessZero(product.trend, 'trend') ?? priceUnlessZero(product.avg, 'avg')
  addPrice(rows, { ...owner, item: key }, price, time)
  for (const [column, finish] of FOILS) {
    addPrice(rows, { ...owner, item: { ...key, finish } }, priceUnlessZero(product[column], column), time)
  }
}

/** Entries of all guides in the document, numbered through; a guide's own date wins over the time of reading. */
async function* guideEntries(source: FeedSource, nowMs: number): AsyncIterable<FeedLine<GuideEntry>[]> {
  const document = await jsonDocument(source)
  const guides = Array.isArray(document) ? document : [document]
  if (guides.length === 0) throw new FeedError(EXPECTED)
  let line = 0
  for (const guide of guides) {
    if (!isObject(guide) || !Array.isArray(guide.priceGuides)) throw new FeedError(EXPECTED)
    const time = instantOf(guide.createdAt, 'createdAt') ?? dayOf(guide.date, 'date') ?? nowMs
    for (let from = 0; from < guide.priceGuides.length; from += BATCH) {
      const products = guide.priceGuides.slice(from, from + BATCH)
      const first = line + 1
      yield products.map((product: unknown, i) => ({ line: first + i, value: { product, time } }))
      line += products.length
    }
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
