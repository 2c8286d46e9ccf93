// Converts a CSV of new prices and stock to the rows of a price job.
import { unescapeCell } from '#core/files/csv.ts'
import { FeedError } from '#core/files/feed.ts'
import { reason } from '#core/problems.ts'
import { cell, type Cells } from '#intake/cells.ts'
import { cellsByName, columnsByName, type CsvReader, numbersIn, rowsOfCsvBody } from '#intake/csv-body.ts'
import { MAX_ROWS } from './read-rows.ts'

const LISTING_COLUMNS = ['listing_id', 'sku']
const NUMBER_COLUMNS = ['listing_id', 'price', 'quantity']
const VALUE_COLUMNS = ['price', 'quantity']
/** Stock at the time of an export of listings. */
const EXPORTED_QUANTITY = 'exported_quantity'
const COLUMNS = [...new Set([...LISTING_COLUMNS, ...NUMBER_COLUMNS, EXPORTED_QUANTITY])]

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
  return { columns: [...columns.values()], read: (cells) => fieldsOf(cellsByName(cells, columns)) }
}

function fieldsOf(cells: Cells): object {
  const fields = numbersIn(cells, NUMBER_COLUMNS)
  const sku = unescapeCell(cells.sku ?? '')
  // An export has both.
  if (sku.trim() !== '' && fields.listing_id === undefined) fields.sku = sku
  // Unedited: units sold since the export must not come back.
  if (cells.quantity !== undefined && cell(cells, 'quantity') === cells[EXPORTED_QUANTITY]?.trim()) delete fields.quantity
  return fields
}
