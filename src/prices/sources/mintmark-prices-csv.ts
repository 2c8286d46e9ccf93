// Mintmark's own price file: one price of an item, market and label per row, strictly validated.
import { csvRows } from '#core/files/feed.ts'
import { parseLabel } from '#core/labels.ts'
import { isMarket, MARKETS } from '#core/markets.ts'
import { MAX_AMOUNT, parseMinor } from '#core/money.ts'
import { type Problem, problem } from '#core/problems.ts'
import type { FeedRow, PriceFormat } from '#prices/records/feed-rows.ts'
import { type Cell, instantOf, truncate } from './cells.ts'
import { addPrice, feedRows } from './rows.ts'

const COLUMNS = ['item_ref', 'market', 'label', 'price', 'updated_at']

export const mintmarkPricesCsv: PriceFormat = {
  name: 'mintmark-prices-csv',
  title: `Mintmark's own CSV: ${COLUMNS.join(',')}`,
  defaultMarket: null,
  marks: [{ type: 'csv', names: COLUMNS }],
  read: (source, { nowMs }) => feedRows(csvRows(source, COLUMNS), (row, line, rows) => readRow(row, line, rows, nowMs)),
}

function readRow(row: Record<string, string>, line: number, rows: FeedRow[], nowMs: number) {
  const reject = (why: Problem) => void rows.push({ line, reject: why })
  const ref = row.item_ref!.trim()
  const market = row.market!.trim()
  const label = parseLabel(row.label!)
  if (ref === '') return reject(problem('item_ref', 'required'))
  if (!isMarket(market)) return reject(problem('market', 'one_of', { values: MARKETS, value: truncate(market) }))
  if (!label) return reject(problem('label', 'label', { value: truncate(row.label!) }))
  const updatedAt = instantOf(row.updated_at, 'updated_at') ?? nowMs
  addPrice(rows, { line, item: { ref }, market, label: label.label }, strictPrice(row.price!.trim()), updatedAt)
}

function strictPrice(text: string): Cell {
  const minor = parseMinor(text)
  if (minor === 0 || text.startsWith('-')) return problem('price', 'number', { above: 0 })
  return minor ?? problem('price', 'number', { max: MAX_AMOUNT, value: truncate(text) })
}
