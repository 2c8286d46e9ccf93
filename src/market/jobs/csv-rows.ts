// Converts a CSV of new prices and stock to the rows of a price job.
import { unescapeCell } from '#core/csv.ts'
import { FeedError } from '#core/feed.ts'
import { reason } from '#core/problems.ts'
import { rowsOfCsvBody } from '../csv-body.ts'
import { MAX_ROWS, UnreadableRow } from './read-rows.ts'

const LISTING_COLUMNS = ['listing_id', 'sku']
const NUMBER_COLUMNS = ['listing_id', 'price', 'quantity']
const VALUE_COLUMNS = ['price', 'quantity']
const NUMBER = /^\d{1,15}(\.\d{1,15})?$/

/**
 * Rows of a file with the columns `listing_id` or `sku`, and `price`, `quantity` or both; unknown columns are ignored, and an empty cell counts as
 * not sent.
 * @throws VALIDATION_ERROR if the file cannot be parsed
 */
export async function priceJobOfCsv(body: Buffer): Promise<{ rows: unknown[] }> {
  const rows = await rowsOfCsvBody(body, MAX_ROWS, requireColumns, (line) => ('reject' in line ? new UnreadableRow(line.reject) : rowOf(line.value)))
  return { rows }
}

function requireColumns(header: readonly string[]): void {
  for (const any of [LISTING_COLUMNS, VALUE_COLUMNS]) {
    if (!any.some((column) => header.includes(column))) throw new FeedError(reason('header', { any, values: header }))
  }
}

function rowOf(cells: Record<string, string>): Record<string, unknown> {
  const row: Record<string, unknown> = {}
  const sku = unescapeCell(cells.sku ?? '')
  if (sku.trim() !== '') row.sku = sku
  for (const column of NUMBER_COLUMNS) {
    const text = cells[column]?.trim() ?? ''
    // Values that are not numbers are passed on unchanged, so that validation rejects the row and states what is allowed.
    if (text !== '') row[column] = NUMBER.test(text) ? Number(text) : text
  }
  return row
}
