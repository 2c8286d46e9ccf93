// Daily TCGplayer market prices of sealed products (CSV, USD): the largest feed, so parsing is optimised for speed.
import { csvRows } from '#core/files/feed.ts'
import type { Market } from '#core/markets.ts'
import { problem } from '#core/problems.ts'
import type { FeedRow, PriceFormat } from '#prices/records/feed-rows.ts'
import { type Cell, dayOf, priceOf } from './cells.ts'
import { addPrice, feedRows } from './rows.ts'

const MARKET: Market = 'source_c'
const COLUMNS = ['productId', 'date', 'marketPrice']

export const sealedDaily: PriceFormat = {
  name: 'sealed-daily',
  title: 'Daily market prices of sealed products (CSV: productId,date,marketPrice), USD',
  defaultMarket: MARKET,
  terms: { licence: 'None stated (Pokemon_Sealed_Tracker)' },
  marks: [{ type: 'csv', names: COLUMNS }],
  read: (source, { market }) => {
    const days = new Map<string, Cell>()
    return feedRows(csvRows(source, COLUMNS), (row, line, rows: FeedRow[]) => {
      const id = row.productId!
      if (id === '') return void rows.push({ line, reject: problem('productId', 'required') })
      const owner = { line, item: { source: 'tcgplayer', id }, market: market ?? MARKET, label: 'Near Mint' }
      addPrice(rows, owner, priceOf(row.marketPrice, 'marketPrice'), cachedDay(days, row.date!))
    })
  },
}

/** A file repeats a few hundred days many times. Days of a file that has more of them are not cached. */
function cachedDay(days: Map<string, Cell>, text: string): Cell {
  const cached = days.get(text)
  if (cached !== undefined) return cached
  const day = dayOf(text, 'date')
  if (days.size < 10_000) days.set(text, day)
  return day
}
