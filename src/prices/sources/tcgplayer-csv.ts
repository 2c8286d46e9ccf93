// CSV of TCGplayer prices (USD): a seller's own pricing export, the collection export, and tcgcsv's price files.
import { csvRows, FeedError } from '#core/files/feed.ts'
import { parseLabel } from '#core/labels.ts'
import type { Market } from '#core/markets.ts'
import { type Problem, problem, reason } from '#core/problems.ts'
import { type FigureAmount, figuresOf } from '#prices/records/feed-figures.ts'
import type { FeedRow, ItemKey, ItemWords, PriceFormat } from '#prices/records/feed-rows.ts'
import { figureOf, priceOf, truncate } from './cells.ts'
import { addPrice, feedRows } from './rows.ts'

const MARKET: Market = 'source_c'

interface Layout {
  /** columns that identify the layout */
  needs: readonly string[]
  idColumn: string
  /** `tcgplayer-sku` ids identify product, condition, printing and language at once; they are not product ids */
  idSource: 'tcgplayer' | 'tcgplayer-sku'
  priceColumn: string
  /** condition, followed by the printing if there is one; without such a column, prices are Near Mint */
  conditionColumn: string | null
  printingColumn: string | null
  /** figures beside the price; a file may lack these columns */
  figureColumns: Partial<Record<FigureAmount, string>>
}

export interface Condition {
  label: string
  /** the printing as written */
  finish?: string
}

/** the words of `Near Mint 1st Edition Reverse Holofoil`, and a few more */
const MAX_CONDITION_LENGTH = 8
const NEAR_MINT: Condition = { label: 'Near Mint' }

/** The collection export comes first, because it has every column of the pricing export. */
const LAYOUTS: readonly Layout[] = [
  {
    needs: ['Product ID', 'Condition', 'Printing', 'TCG Market Price'],
    idColumn: 'Product ID',
    idSource: 'tcgplayer',
    priceColumn: 'TCG Market Price',
    conditionColumn: 'Condition',
    printingColumn: 'Printing',
    figureColumns: { low: 'TCG Low Price' },
  },
  {
    needs: ['TCGplayer Id', 'Condition', 'TCG Market Price'],
    idColumn: 'TCGplayer Id',
    idSource: 'tcgplayer-sku',
    priceColumn: 'TCG Market Price',
    conditionColumn: 'Condition',
    printingColumn: null,
    figureColumns: { low: 'TCG Low Price' },
  },
  {
    needs: ['productId', 'subTypeName', 'marketPrice'],
    idColumn: 'productId',
    idSource: 'tcgplayer',
    priceColumn: 'marketPrice',
    conditionColumn: null,
    printingColumn: 'subTypeName',
    figureColumns: { low: 'lowPrice', mid: 'midPrice', high: 'highPrice' },
  },
]

export const tcgplayerCsv: PriceFormat = {
  name: 'tcgplayer-csv',
  title: 'TCGplayer market prices (CSV): pricing export, collection export or tcgcsv prices, USD',
  defaultMarket: MARKET,
  terms: { licence: 'Terms of TCGplayer' },
  marks: LAYOUTS.map(({ needs }) => ({ type: 'csv', names: needs })),
  read: (source, { market, nowMs }) => {
    let layout = LAYOUTS[0]!
    const lines = csvRows(source, (header) => {
      layout = layoutOf(header)
    })
    return feedRows(lines, (row, line, rows: FeedRow[]) => {
      const read = readItem(row, layout)
      if ('rule' in read) return void rows.push({ line, reject: read })
      const { low, mid, high } = layout.figureColumns
      const figure = (column: string | undefined) => (column === undefined ? null : figureOf(row[column]))
      const figures = figuresOf({ low: figure(low), mid: figure(mid), high: figure(high) })
      const owner = { line, item: read.item, market: market ?? MARKET, label: read.label, figures }
      addPrice(rows, owner, priceOf(row[layout.priceColumn], layout.priceColumn), nowMs)
    })
  },
}

function layoutOf(header: readonly string[]): Layout {
  const layout = LAYOUTS.find(({ needs }) => needs.every((name) => header.includes(name)))
  if (layout) return layout
  throw new FeedError(reason('file_format', { format: 'tcgplayer-csv', values: LAYOUTS.map(({ needs }) => needs.join(' + ')) }))
}

/** Item and label of a row, or what is wrong with it. */
function readItem(row: Record<string, string>, layout: Layout): { item: ItemKey; label: string } | Problem {
  const id = row[layout.idColumn]!.trim()
  if (!/^[1-9]\d*$/.test(id)) return problem(layout.idColumn, 'id', { value: truncate(id) })
  const condition = layout.conditionColumn === null ? NEAR_MINT : readCondition(row[layout.conditionColumn]!)
  if (!condition) return problem(layout.conditionColumn!, 'label', { value: truncate(row[layout.conditionColumn!]!) })
  const printing = layout.printingColumn === null ? '' : row[layout.printingColumn]!.trim()
  const finish = printing === '' ? condition.finish : printing
  return { item: { source: layout.idSource, id, ...(finish && { finish }), ...wordsOf(row) }, label: condition.label }
}

/** The card's description in the exports; the price files have none. */
function wordsOf(row: Record<string, string>): ItemWords {
  const [name, number, set] = ['Product Name', 'Number', 'Set Name'].map((column) => row[column]?.trim())
  return name && number && set ? { name, number, set } : {}
}

/** `Lightly Played Reverse Holofoil` → Lightly Played, reverse; null for a condition that is not a label. */
export function readCondition(text: string): Condition | null {
  const words = text.trim().split(/\s+/)
  // Sealed products have no worse condition than this; a damaged card is worth less than any label.
  if (/^unopened$/i.test(text.trim())) return NEAR_MINT
  if (/^damaged$/i.test(words[0]!) || words.length > MAX_CONDITION_LENGTH) return null
  for (let n = words.length; n > 0; n -= 1) {
    const label = parseLabel(words.slice(0, n).join(' '))
    if (label?.group !== 'ungraded') continue
    const printing = words.slice(n).join(' ')
    return { label: label.label, ...(printing !== '' && { finish: printing }) }
  }
  return null
}
