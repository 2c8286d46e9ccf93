// Converts a seller's CSV to listing rows: our own columns, those of other shops and people in several languages, or TCGplayer's with some of ours.
import { unescapeCell } from '#core/files/csv.ts'
import { FeedError } from '#core/files/feed.ts'
import { parseLabel } from '#core/labels.ts'
import { minorToNumber } from '#core/money.ts'
import { problem, reason } from '#core/problems.ts'
import { BadCell, cell, type Cells } from '#intake/cells.ts'
import { CERTIFICATE_COLUMNS, certificateIn } from '#intake/certificate-cells.ts'
import { cellsByName, type CsvReader, numbersIn, rowsOfCsvBody } from '#intake/csv-body.ts'
import type { SavedColumns } from '#intake/read-columns.ts'
import { checkTcgplayerHeader, readTcgplayerRow } from '#intake/tcgplayer.ts'
import { amountIn, truncate, TWO_READINGS } from '#prices/sources/cells.ts'
import { AMOUNT_COLUMNS, GRADE_COLUMNS, type ListingField, NUMBER_COLUMNS, TEXT_COLUMNS } from './listing-columns.ts'
import { readHeader, type Shop, shopOf } from './read-header.ts'
import { MAX_ROWS } from './read-rows.ts'
import { checkShopHeader, ownCells } from './shop-rows.ts'

/** In export order. */
export const LISTING_CSV_COLUMNS = [
  'listing_id',
  'status',
  'sku',
  'item_id',
  'name',
  'number',
  'set',
  'finish',
  'grade',
  'language',
  'quantity',
  // Not read by an import: with it, a price job can tell whether the quantity was edited.
  'exported_quantity',
  'price',
  'title',
  'description',
  'images',
  'shipping_payer',
  'offers_enabled',
  'min_offer_price',
  ...CERTIFICATE_COLUMNS,
] as const

const ITEM_COLUMNS = ['item_id', 'name', 'tcgplayer_id', 'cardmarket_id', 'cert'] as const

/**
 * Rows of a file; unknown columns are ignored, and an empty cell counts as not sent.
 * @param saved what the account says that columns hold
 * @throws VALIDATION_ERROR if the file cannot be parsed
 */
export async function listingsOfCsv(body: Buffer, saved: SavedColumns<ListingField>): Promise<{ rows: unknown[] }> {
  return { rows: await rowsOfCsvBody(body, MAX_ROWS, (header) => readerOf(header, saved)) }
}

function readerOf(header: readonly string[], saved: SavedColumns<ListingField>): CsvReader {
  const shop = shopOf(header)
  if (shop === 'tcgplayer') checkTcgplayerHeader(header)
  const { columns, readings } = readHeader(header, shop, saved)
  if (![...ITEM_COLUMNS, 'local_name'].some((column) => columns.has(column))) {
    throw new FeedError(reason('header', { any: ITEM_COLUMNS, values: header }))
  }
  if (!columns.has('price') && !columns.has('price_cents')) throw new FeedError(reason('header', { columns: ['price'], values: header }))
  checkShopHeader(shop, columns)
  return { columns: [...columns.values()], readings, read: rowReader(shop, columns) }
}

function rowReader(shop: Shop | null, columns: ReadonlyMap<string, string>): CsvReader['read'] {
  const ownLanguage = columns.get('language') === 'language'
  if (shop === 'tcgplayer') {
    // Our column `price` is in lira, TCGplayer's are in dollars.
    const currency = columns.get('price')?.startsWith('TCG ') ? 'USD' : ''
    return (line) => {
      const cells = cellsByName(line, columns)
      return tcgplayerFields({ ...cells, currency: cell(cells, 'currency') || currency }, ownLanguage)
    }
  }
  return (cells) => {
    const own = ownCells(cellsByName(cells, columns), shop, ownLanguage)
    return own && ownFields(own)
  }
}

/** Values of the wrong type are passed on unchanged, so that validation rejects the row and states what is allowed. */
function ownFields(cells: Cells): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  for (const column of TEXT_COLUMNS) {
    const text = unescapeCell(cells[column] ?? '').trim()
    if (text !== '') fields[column] = text
  }
  const grade = GRADE_COLUMNS.map((column) => unescapeCell(cells[column] ?? '').trim()).find((text) => text !== '')
  if (grade !== undefined) fields.grade = grade
  Object.assign(fields, numbersIn(cells, NUMBER_COLUMNS), amountsIn(cells))
  // Exactly as written, including leading and trailing spaces.
  if (cells.description) fields.description = unescapeCell(cells.description)
  if (cells.any_finish) fields.any_finish = true
  const images = unescapeCell(cells.images ?? '')
    .split(/[|\s]+/)
    .filter(Boolean)
  if (images.length > 0) fields.images = images
  const offers = cell(cells, 'offers_enabled')
  if (offers !== '') fields.offers_enabled = /^(true|false)$/i.test(offers) ? offers.toLowerCase() === 'true' : offers
  const certificate = certificateIn(cells)
  if (certificate) fields.certificate = certificate
  return fields
}

/**
 * Amounts as people of several countries write them. Plain numbers stay exact; any other text is passed on, as `numbersIn` does.
 * @throws BadCell if an amount can be read in two ways, or has the sign of another currency
 */
function amountsIn(cells: Cells): Record<string, unknown> {
  const currency = cell(cells, 'currency') || 'TRY'
  const amounts: Record<string, unknown> = numbersIn(cells, AMOUNT_COLUMNS)
  for (const [column, value] of Object.entries(amounts)) {
    const text = cell(cells, column)
    if (typeof value === 'number' && !TWO_READINGS.test(text)) continue
    const amount = amountIn(text, column, { currency })
    if (typeof amount === 'number') amounts[column] = minorToNumber(amount)
    else if (amount !== null && amount.rule !== 'number') throw new BadCell(amount)
  }
  return amounts
}

/** Item, condition and stock as TCGplayer writes them, the rest as in our columns; null without stock. */
function tcgplayerFields(cells: Cells, ownLanguage: boolean): object | null {
  const row = readTcgplayerRow({
    'Product Line': cell(cells, 'game'),
    'Set Name': cell(cells, 'set'),
    'Product Name': cell(cells, 'name'),
    Number: cell(cells, 'number'),
    Condition: cell(cells, 'condition'),
    Printing: cell(cells, 'finish'),
    'Product ID': cell(cells, 'tcgplayer_id'),
    'Total Quantity': cell(cells, 'quantity'),
    'Add to Quantity': cell(cells, 'add_quantity'),
  })
  if (!row) return null
  const { item, label, quantity } = row
  // As with TCGplayer prices, an unknown condition has no default: a damaged card is worth less than any label.
  if (label !== null && parseLabel(label)?.label !== label) throw new BadCell(problem('Condition', 'label', { value: truncate(label) }))
  const { name, number, set, finish, game } = item
  const stated = Object.entries({ name, number, set, finish, game, grade: label }).filter(([, value]) => value !== null)
  // TCGplayer's id identifies product, condition, printing and language together: exactly one stock unit of the seller.
  const sku = cell(cells, 'sku') || cell(cells, 'shop_sku')
  // Some exports repeat the name as the title, which says less than the title that we compose.
  const shopTitle = cell(cells, 'shop_title') === name ? '' : cell(cells, 'shop_title')
  const title = cells.title || shopTitle
  const own = ownCells({ ...cells, sku, title }, null, ownLanguage)!
  return { ...ownFields(own), ...Object.fromEntries(stated), quantity }
}
