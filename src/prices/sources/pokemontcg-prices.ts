// Card lists with the TCGplayer market price of each printing, as made from the Pokémon TCG API (CSV, USD).
import { csvRows } from '#core/feed.ts'
import type { Market } from '#core/markets.ts'
import { problem } from '#core/problems.ts'
import type { FeedRow, PriceFormat } from '#prices/records.ts'
import { dayOf, priceOf } from './cells.ts'
import { addPrice, feedRows } from './rows.ts'

const MARKET: Market = 'source_c'
const DATE = 'TCG Price Date'
const PRINTINGS = [
  ['TCG Market Price USD (Normal)', 'normal'],
  ['TCG Market Price USD (Reverse Holofoil)', 'reverse'],
  ['TCG Market Price USD (Holofoil)', 'holo'],
] as const
const COLUMNS = ['ID', DATE, ...PRINTINGS.map(([column]) => column)]

export const pokemontcgPrices: PriceFormat = {
  name: 'pokemontcg-prices',
  title: 'Pokémon TCG API card list with TCGplayer market prices by printing (CSV), USD',
  defaultMarket: MARKET,
  marks: [{ type: 'csv', names: COLUMNS }],
  read: (source, { market }) => {
    return feedRows(csvRows(source, COLUMNS), (row, line, rows: FeedRow[]) => {
      const id = row.ID!.trim()
      if (id === '') return void rows.push({ line, reject: problem('ID', 'required') })
      const time = dayOf(row[DATE], DATE)
      const words = { name: row.Name ?? '', number: id.slice(id.lastIndexOf('-') + 1), set: row['Set Name'] ?? '', game: 'pokemon', language: 'en' }
      for (const [column, finish] of PRINTINGS) {
        const item = { source: 'pokemontcg', id, finish, ...words }
        const owner = { line, item, market: market ?? MARKET, label: 'Near Mint' }
        addPrice(rows, owner, priceOf(row[column], column), time)
      }
    })
  },
}
