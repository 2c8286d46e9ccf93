// Converts a CSV of new prices and stock to the rows of a price job.
import { unescapeCell } from '#core/files/csv.ts'
import { FeedError } from '#core/files/feed.ts'
import { reason } from '#core/problems.ts'
import { cellsByName, columnsByName, type CsvReader, rowsOfCsvBody } from '../csv-body.ts'
import { MAX_ROWS, UnreadableRow } from './read-rows.ts'

const LISTING_COLUMNS = ['listing_id', 'sku']
const NUMBER_COLUMNS = ['listing_id', 'price', 'quantity']
const VALUE_COLUMNS = ['price', 'quantity']
/** Stock at the time of an export of listings. */
const EXPORTED_QUANTITY = 'exported_quantity'
const COLUMNS = [...new Set([...LISTING_COLUMNS, ...NUMBER_COLUMNS, EXPORTED_QUANTITY])]
const NUMBER = /^\d{1,15}(\.\d{1,15})?$/

/**
 * Rows of a file with the columns `listing_id` or `sku`, and `price`, `quantity` or both; unknown columns are ignored, and an empty cell counts as
 * not sent. An edited export of listings is such a file.
 * @throws VALIDATION_ERROR if the file cannot be parsed
 */
export async function priceJobOfCsv(body: Buffer): Promise<{ rows: unknown[] }> {
  return { rows: await rowsOfCsvBody(body, MAX_ROWS, readerOf) }
}

function readerOf(header: readonly string[]): CsvReader {
  const columns = columnsByName(header, COLUMNS)
  for (const any of [LISTING_COLUMNS, VALUE_COLUMNS]) {
    if (!any.some((column) => columns.has(column))) throw new FeedError(reason('header', { any, values: header }))
  }
  return {
    columns: [...columns.values()],
    rowOf: (line) => ('reject' in line ? new UnreadableRow(line.reject) : rowOf(cellsByName(line.value, columns))),
  }
}

function rowOf(cells: Record<string, string>): Record<string, unknown> {
  const row: Record<string, unknown> = {}
  for (const column of NUMBER_COLUMNS) {
    const text = cells[column]?.trim() ?? ''
    // Values that are not numbers are passed on unchanged, so that validation rejects the row and states what is allowed.
    if (text !== '') row[column] = NUMBER.test(text) ? Number(text) : text
  }
  const sku = unescapeCell(cells.sku ?? '')
  // An export has both.
  if (sku.trim() !== '' && row.listing_id === undefined) row.sku = sku
  // Unedited: units sold since the export must not come back.
  if (cells.quantity !== undefined && cells.quantity.trim() === cells[EXPORTED_QUANTITY]?.trim()) delete row.quantity
  return row
}
