// Our own collection format: every field of a record, without loss, oldest record first.
import { parseLabel } from '#core/labels.ts'
import { isMarket, MARKETS } from '#core/markets.ts'
import { MAX_AMOUNT, parseMinor } from '#core/money.ts'
import { problem } from '#core/problems.ts'
import { truncate } from '#prices/sources/cells.ts'
import { unescapeCell } from '#core/files/csv.ts'
import { BadCell, cell, type Cells, quantityOf, textOrNull } from '#intake/cells.ts'
import { codeOf, type CollectionFormat, csvEntries, dayOf, noteOf } from './entries.ts'

export const MINTMARK_CSV_COLUMNS = [
  'market',
  'item_ref',
  'item_name',
  'code',
  'set',
  'label',
  'quantity',
  'purchase_price',
  'sale_price',
  'purchase_date',
  'card_uniq_id',
  'note',
] as const

export const mintmarkCsv: CollectionFormat = {
  name: 'mintmark-csv',
  title: `Mintmark's own collection format (CSV: ${MINTMARK_CSV_COLUMNS.join(', ')})`,
  read: (source) =>
    csvEntries(source, ['item_ref', 'item_name', 'label', 'quantity'], (raw) => {
      const cells = Object.fromEntries(Object.entries(raw).map(([column, text]) => [column, unescapeCell(text)]))
      const market = cell(cells, 'market')
      if (market !== '' && !isMarket(market)) throw new BadCell(problem('market', 'one_of', { values: MARKETS, value: truncate(market) }))
      const ref = cell(cells, 'item_ref')
      const label = cell(cells, 'label')
      return {
        item: {
          keys: ref === '' ? [] : [{ ref, ...(isMarket(market) && { market }) }],
          name: cell(cells, 'item_name'),
          number: textOrNull(cells, 'code'),
          set: textOrNull(cells, 'set'),
          game: null,
          finish: null,
        },
        label: label === '' ? null : (parseLabel(label)?.label ?? label),
        quantity: quantityOf(cells, 'quantity'),
        purchaseMinor: decimalOf(cells, 'purchase_price'),
        saleMinor: decimalOf(cells, 'sale_price'),
        purchaseDate: dayOf(cells, 'purchase_date'),
        cardUniqId: codeOf('card_uniq_id', cells.card_uniq_id ?? ''),
        note: noteOf('note', cells.note ?? ''),
      }
    }),
}

function decimalOf(cells: Cells, column: string): number | null {
  const text = cell(cells, column)
  if (text === '') return null
  const minor = parseMinor(text)
  if (minor === null) throw new BadCell(problem(column, 'number', { max: MAX_AMOUNT, decimals: 2, value: truncate(text) }))
  return minor
}
