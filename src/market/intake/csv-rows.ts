// Converts a seller's CSV to listing rows: our own columns, those of other shops and people in several languages, or TCGplayer's with some of ours.
import { unescapeCell } from '#core/files/csv.ts'
import { FeedError } from '#core/files/feed.ts'
import { parseLabel } from '#core/labels.ts'
import { minorToNumber } from '#core/money.ts'
import { problem, reason } from '#core/problems.ts'
import { BadCell, cell, type Cells } from '#intake/cells.ts'
import { cellsByName, type CsvReader, numbersIn, rowsOfCsvBody } from '#intake/csv-body.ts'
import { checkTcgplayerHeader, readTcgplayerRow, TCGPLAYER_COLUMNS } from '#intake/tcgplayer.ts'
import { amountIn, truncate, TWO_READINGS } from '#prices/sources/cells.ts'
import { columnsOf } from './column-names.ts'
import { MAX_ROWS } from './read-rows.ts'
import { checkShopHeader, ownCells, shopOf, TRANSLATED } from './shop-rows.ts'

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
] as const

const TEXT_COLUMNS = [
  'sku',
  'name',
  'number',
  'set',
  'finish',
  'game',
  'language',
  'title',
  'shipping_payer',
  'tcgplayer_id',
  'cardmarket_id',
  'currency',
] as const
const NUMBER_COLUMNS = ['listing_id', 'item_id', 'quantity'] as const
const AMOUNT_COLUMNS = ['price', 'min_offer_price'] as const
/** Columns for the condition or grade; the first non-empty one applies. */
const GRADE_COLUMNS = ['grade', 'condition', 'state'] as const
const OTHER_COLUMNS = ['description', 'images', 'offers_enabled'] as const
const OWN_COLUMNS: readonly string[] = [...TEXT_COLUMNS, ...NUMBER_COLUMNS, ...AMOUNT_COLUMNS, ...GRADE_COLUMNS, ...OTHER_COLUMNS]
const ITEM_COLUMNS = ['item_id', 'name', 'tcgplayer_id', 'cardmarket_id'] as const
/** Columns that identify a TCGplayer file. */
const TCGPLAYER = ['Product Line', 'Product Name'] as const
const TCGPLAYER_SKU = 'TCGplayer Id'

/**
 * Rows of a file; unknown columns are ignored, and an empty cell counts as not sent.
 * @throws VALIDATION_ERROR if the file cannot be parsed
 */
export async function listingsOfCsv(body: Buffer): Promise<{ rows: unknown[] }> {
  return { rows: await rowsOfCsvBody(body, MAX_ROWS, readerOf) }
}

function readerOf(header: readonly string[]): CsvReader {
  return TCGPLAYER.every((column) => header.includes(column)) ? tcgplayerReader(header) : readerOfAny(header)
}

/** In TCGplayer's file, `Number` and `Title` are columns of its own, so ours must be written exactly. */
function tcgplayerReader(header: readonly string[]): CsvReader {
  checkTcgplayerHeader(header)
  // TCGplayer's price column is in dollars.
  if (!header.includes('price')) throw new FeedError(reason('header', { columns: ['price'], values: header }))
  const own = OWN_COLUMNS.filter((name) => header.includes(name))
  return { columns: [...own, ...TCGPLAYER_COLUMNS, TCGPLAYER_SKU], read: tcgplayerFields }
}

function readerOfAny(header: readonly string[]): CsvReader {
  const columns = columnsOf(header, [...OWN_COLUMNS, ...TRANSLATED])
  const shopFile = shopOf(header)
  if (![...ITEM_COLUMNS, 'local_name'].some((column) => columns.has(column))) {
    throw new FeedError(reason('header', { any: ITEM_COLUMNS, values: header }))
  }
  if (!columns.has('price') && !columns.has('price_cents')) throw new FeedError(reason('header', { columns: ['price'], values: header }))
  checkShopHeader(shopFile?.shop ?? null, columns)
  // The row's id in the shop identifies exactly one stock unit of the seller.
  if (shopFile?.idColumn !== undefined && !columns.has('sku')) columns.set('sku', shopFile.idColumn)
  const ownLanguage = columns.get('language') === 'language'
  return {
    columns: [...columns.values()],
    read: (cells) => {
      const own = ownCells(cellsByName(cells, columns), shopFile?.shop ?? null, ownLanguage)
      return own && ownFields(own)
    },
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

/** Item, condition and stock from TCGplayer's columns, the rest from ours; null without stock. */
function tcgplayerFields(cells: Cells): object | null {
  const row = readTcgplayerRow(cells)
  if (!row) return null
  const { item, label, quantity } = row
  // As with TCGplayer prices, an unknown condition has no default: a damaged card is worth less than any label.
  if (label !== null && parseLabel(label)?.label !== label) throw new BadCell(problem('Condition', 'label', { value: truncate(label) }))
  const { name, number, set, finish, game } = item
  const theirs = { name, number, set, finish, game, grade: label, tcgplayer_id: cell(cells, 'Product ID') || null }
  const stated = Object.entries(theirs).filter(([, value]) => value !== null)
  // TCGplayer's id identifies product, condition, printing and language together: exactly one stock unit of the seller.
  const sku = cell(cells, TCGPLAYER_SKU)
  return { ...(sku !== '' && { sku }), ...ownFields(cells), ...Object.fromEntries(stated), quantity }
}
