// Our own collection format: every field of a record, without loss, oldest record first.
import { csvLine } from '#core/files/csv.ts'
import { certificateOf, copiesProblem } from '#catalogue/certificates/certificate.ts'
import { parseLabel } from '#core/labels.ts'
import { isMarket, MARKETS } from '#core/markets.ts'
import { MAX_AMOUNT, parseMinor } from '#core/money.ts'
import { problem } from '#core/problems.ts'
import type { StoredCertificate } from '#db/schema.ts'
import { truncate } from '#prices/sources/cells.ts'
import { BadCell, cell, type Cells, quantityOf, textOrNull } from '#intake/cells.ts'
import { CERTIFICATE_COLUMNS, certificateCell, fullCertificateIn, isCertificateColumn } from '#intake/certificate-cells.ts'
import type { WrittenFormat } from './app-format.ts'
import { codeOf, type CollectionFormat, dayOf, forTradeOf, noteOf } from './entries.ts'

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
  'for_trade',
  ...CERTIFICATE_COLUMNS,
] as const

export const mintmarkCsv: CollectionFormat & WrittenFormat = {
  name: 'mintmark-csv',
  title: `Mintmark's own collection format (CSV: ${MINTMARK_CSV_COLUMNS.join(', ')})`,
  marks: ['item_ref', 'item_name', 'label', 'quantity'],
  reads: MINTMARK_CSV_COLUMNS,
  read: (cells) => {
    const market = cell(cells, 'market')
    if (market !== '' && !isMarket(market)) throw new BadCell(problem('market', 'one_of', { values: MARKETS, value: truncate(market) }))
    const ref = cell(cells, 'item_ref')
    const label = cell(cells, 'label')
    const quantity = quantityOf(cells, 'quantity')
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
      quantity,
      purchaseMinor: decimalOf(cells, 'purchase_price'),
      saleMinor: decimalOf(cells, 'sale_price'),
      purchaseDate: dayOf(cells, 'purchase_date'),
      cardUniqId: codeOf('card_uniq_id', cells.card_uniq_id ?? ''),
      note: noteOf('note', cells.note ?? ''),
      ...forTradeOf(cells, 'for_trade', quantity),
      ...certificateOfCells(cells),
    }
  },
  head: csvLine(MINTMARK_CSV_COLUMNS),
  line: ({ certificate, ...record }) =>
    csvLine(MINTMARK_CSV_COLUMNS.map((column) => (isCertificateColumn(column) ? certificateCell(column, certificate) : record[column]))),
}

function decimalOf(cells: Cells, column: string): number | null {
  const text = cell(cells, column)
  if (text === '') return null
  const minor = parseMinor(text)
  if (minor === null) throw new BadCell(problem(column, 'number', { max: MAX_AMOUNT, decimals: 2, value: truncate(text) }))
  return minor
}

/** The certificate of a row, if it has one: older files have no such columns, and their rows must keep their keys. @throws BadCell */
function certificateOfCells(cells: Cells): { certificate?: StoredCertificate } {
  const body = fullCertificateIn(cells)
  if (!body) return {}
  const why = copiesProblem(quantityOf(cells, 'quantity'), body)
  if (why) throw new BadCell(why)
  return { certificate: certificateOf(body) }
}
