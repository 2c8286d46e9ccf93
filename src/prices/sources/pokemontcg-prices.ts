// Card lists exported from the Pokémon TCG API with the TCGplayer market price of each printing (CSV, USD).
import { csvRows } from '#core/files/feed.ts'
import type { Market } from '#core/markets.ts'
import { problem } from '#core/problems.ts'
import type { FeedRow, PriceFormat } from '#prices/records/feed-rows.ts'
import { figuresOf } from '#prices/records/feed-figures.ts'
import { dayOf, figureOf, priceOf } from './cells.ts'
import { addPrice, feedRows } from './rows.ts'

const MARKET: Market = 'source_c'
const DATE = 'TCG Price Date'
const PRINTINGS = [
  ['Normal', 'normal'],
  ['Reverse Holofoil', 'reverse'],
  ['Holofoil', 'holo'],
] as const
const COLUMNS = ['ID', DATE, ...PRINTINGS.map(([printing]) => `TCG Market Price USD (${printing})`)]

export const pokemontcgPrices: PriceFormat = {
  name: 'pokemontcg-prices',
  title: 'Pokémon TCG API card list with TCGplayer market prices by printing (CSV), USD',
  defaultMarket: MARKET,
  terms: { licence: 'MIT (pokemon_tcg_stockmarket)' },
  marks: [{ type: 'csv', names: COLUMNS }],
  read: (source, { market }) => {
    return feedRows(csvRows(source, COLUMNS), (row, line, rows: FeedRow[]) => {
      const id = row.ID!.trim()
      if (id === '') return void rows.push({ line, reject: problem('ID', 'required') })
      const time = dayOf(row[DATE], DATE)
      const words = { name: row.Name ?? '', number: id.slice(id.lastIndexOf('-') + 1), set: row['Set Name'] ?? '', game: 'pokemon', language: 'en' }
      for (const [printing, finish] of PRINTINGS) {
        const column = `TCG Market Price USD (${printing})`
        const figure = (name: string) => figureOf(row[`TCG ${name} Price USD (${printing})`])
        const figures = figuresOf({ low: figure('Low'), high: figure('High') })
        const item = { source: 'pokemontcg', id, finish, ...words }
        const owner = { line, item, market: market ?? MARKET, label: 'Near Mint', figures }
        addPrice(rows, owner, priceOf(row[column], column), time)
      }
    })
  },
}
