// Collection files of no known format: what each column holds is saved by the account, or follows from its name.
import { FeedError } from '#core/files/feed.ts'
import { reason } from '#core/problems.ts'
import { CARD_COLUMN_NAMES, fieldsByName } from '#intake/column-names.ts'
import type { ColumnReading } from '#intake/csv-body.ts'
import { ColumnsOfHeader, type SavedColumns } from '#intake/read-columns.ts'
import { COLLECTION_FIELDS, type CollectionField, readRow } from './columns.ts'
import type { RowReader } from './entries.ts'

/** `Price` is not listed: it can be what was paid, what is asked, or what the market pays. */
const COLUMN_NAMES = {
  ...CARD_COLUMN_NAMES,
  finish: [...CARD_COLUMN_NAMES.finish, 'Card variant'],
  tcgplayer_id: ['TCGplayer product ID', 'Product ID'],
  for_trade: ['Tradelist count', 'Trade quantity', 'Takaslık'],
  purchase_price: [
    'Purchase price',
    'Price paid',
    'Price bought',
    'Cost',
    'Average cost paid',
    'Kaufpreis',
    'Einkaufspreis',
    'Alış fiyatı',
    'Maliyet',
    "Prix d'achat",
  ],
  purchase_date: ['Purchase date', 'Date purchased', 'Date bought', 'Kaufdatum', 'Alış tarihi', 'Satın alma tarihi', "Date d'achat"],
  sale_price: ['Asking price', 'My price', 'Verkaufspreis', 'Satış fiyatı', 'Prix de vente'],
  card_uniq_id: ['Certificate', 'Certificate number', 'Cert', 'Cert number', 'Sertifika no'],
  note: ['Notes', 'Comment', 'Comments', 'Kommentar', 'Bemerkung', 'Not', 'Notlar', 'Commentaire', 'Commentaires'],
  misprint: ['Misprint?', 'Fehldruck'],
} as const satisfies Partial<Record<CollectionField, readonly string[]>>
const fieldNamed = fieldsByName<CollectionField>(COLUMN_NAMES)

export interface MappedReader extends RowReader {
  readings: ColumnReading[]
}

/** @throws FeedError if columns are missing, or two could be the same */
export function mappedReader(header: readonly string[], saved: SavedColumns<CollectionField>): MappedReader {
  const read = new ColumnsOfHeader<CollectionField>(header)
  const { columns } = read
  read.takeSaved(saved)
  read.takeExact(COLLECTION_FIELDS)
  read.takeNamed(fieldNamed)
  if (!columns.has('name') && !columns.has('local_name')) throw new FeedError(reason('header', { columns: ['name'], values: header }))
  // Some files count foils in a column of their own: a row without a quantity is not one copy.
  if (!columns.has('quantity')) throw new FeedError(reason('header', { columns: ['quantity'], values: header }))
  const reads = [...columns.values()]
  return { readings: read.readings(), columnOf: (field) => columns.get(field), reads, read: (row) => readRow(row, columns, {}) }
}
