// Rows in the body of a request, as CSV or JSON: parsed for a verb, which then validates each row on its own.
import { invalid, ServiceError } from '#core/errors.ts'
import { csvRows, FeedError, type FeedSource } from '#core/files/feed.ts'
import type { Problem } from '#core/problems.ts'
import { runInSlices } from '#core/yield-to-event-loop.ts'
import { truncate } from '#prices/sources/cells.ts'
import { cell, type Cells, type FileLine, readLine } from './cells.ts'
import { columnName } from './column-name.ts'

/** What a column of a file is taken as. */
export interface ColumnReading {
  /** as written */
  column: string
  /** null for a column that is not read */
  field: string | null
  /** why, as the module of the file names it; null if nothing recognises the column */
  how: string | null
}

/** How a file is read, chosen by its header. */
export interface CsvReader {
  /** columns of the header that are read */
  columns: readonly string[]
  /** of all columns of the header, if the module states them */
  readings?: readonly ColumnReading[]
  /** The fields of a line; null for a line without anything to import. @throws BadCell */
  read: (cells: Cells) => object | null
}

/** A row after validation; `refused` is null for a line without anything to import. */
export type CheckedRow<T> = { line: number; value: T } | { line: number; fields: unknown; refused: readonly Problem[] | null }

interface Header {
  ignored: string[]
  readings: ColumnReading[]
}

/** Columns in an answer: a header can have 1,000. */
const MAX_COLUMNS = 100
const NUMBER = /^\d{1,15}(\.\d{1,15})?$/

/** The lists of rows that come from a file, with what its header is taken as. */
const headers = new WeakMap<readonly unknown[], Header>()

/** Columns of the file that the rows come from which were not read; none for rows sent as JSON. */
export function ignoredColumnsOf(rows: readonly unknown[]): string[] {
  return headers.get(rows)?.ignored ?? []
}

/** What the columns of the file that the rows come from are taken as; none for rows sent as JSON. */
export function columnReadingsOf(rows: readonly unknown[]): ColumnReading[] {
  return headers.get(rows)?.readings ?? []
}

/**
 * The rows of a file, for `checkRows`. Reading stops after more than `most` rows, which the verb then rejects.
 * @param readerOf throws a `FeedError` if columns are missing
 * @throws VALIDATION_ERROR if the file cannot be parsed
 */
export async function rowsOfCsvBody(body: Buffer, most: number, readerOf: (header: readonly string[]) => CsvReader): Promise<unknown[]> {
  for await (const rows of partsOfCsv({ bytes: onlyChunk(body), fileName: null }, most + 1, readerOf)) return rows
  return []
}

/** The rows of a file in parts of at most `size`, at least one part; otherwise as `rowsOfCsvBody`. */
export async function* partsOfCsv(source: FeedSource, size: number, readerOf: (header: readonly string[]) => CsvReader): AsyncIterable<unknown[]> {
  let reader: CsvReader
  let header: Header
  const readHeader = (names: readonly string[]) => {
    reader = readerOf(names)
    header = headerOf(names, reader)
  }
  let rows: FileLine<object>[] = []
  const partOf = () => {
    headers.set(rows, header)
    return rows
  }
  try {
    for await (const lines of csvRows(source, readHeader)) {
      for (const line of lines) {
        if (rows.length === size) {
          yield partOf()
          rows = []
        }
        rows.push(readLine(line, reader!.read))
      }
    }
    yield partOf()
  } catch (error) {
    if (error instanceof FeedError) throw invalid('body', 'file', { must: error.why })
    throw error
  }
}

function headerOf(names: readonly string[], { columns, readings = [] }: CsvReader): Header {
  const ignored = names.filter((name) => name.trim() !== '' && !columns.includes(name))
  const shown = readings.filter(({ column }) => column.trim() !== '').slice(0, MAX_COLUMNS)
  return {
    ignored: ignored.slice(0, MAX_COLUMNS).map((name) => truncate(columnName(name))),
    readings: shown.map(({ column, ...reading }) => ({ column: columnName(column), ...reading })),
  }
}

/**
 * Validates the rows of a file or of a JSON list one by one; `line` is the position in the list for JSON, from 1.
 * @param check throws VALIDATION_ERROR for an invalid row
 */
export async function checkRows<T>(rows: readonly unknown[], check: (fields: unknown) => T): Promise<CheckedRow<T>[]> {
  const isFile = headers.has(rows)
  const checked: CheckedRow<T>[] = []
  await runInSlices(rows.length, (from, to) => {
    for (let i = from; i < to; i += 1) checked.push(checkLine(isFile ? (rows[i] as FileLine<object>) : { line: i + 1, fields: rows[i] }, check))
  })
  return checked
}

function checkLine<T>(row: FileLine<unknown>, check: (fields: unknown) => T): CheckedRow<T> {
  const { line } = row
  if ('refused' in row) return { line, fields: null, refused: row.refused && [{ field: 'row', ...row.refused }] }
  try {
    return { line, value: check(row.fields) }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { line, fields: row.fields, refused: error.details.map((wrong) => (wrong.field === 'body' ? { ...wrong, field: 'row' } : wrong)) }
  }
}

/** The columns of a header that have one of our names, in any case: ours → as written. */
export function columnsByName(header: readonly string[], names: readonly string[]): Map<string, string> {
  const columns = new Map<string, string>()
  for (const column of header) {
    const name = column.trim().toLowerCase()
    if (names.includes(name) && !columns.has(name)) columns.set(name, column)
  }
  return columns
}

/** The cells of these columns, by our names. */
export function cellsByName(cells: Cells, columns: ReadonlyMap<string, string>): Cells {
  return Object.fromEntries(Array.from(columns, ([name, column]) => [name, cells[column]!]))
}

/** The numbers in non-empty cells. Any other text is passed on unchanged, so that validation refuses the row and states what is allowed. */
export function numbersIn(cells: Cells, columns: readonly string[]): Record<string, unknown> {
  const numbers: Record<string, unknown> = {}
  for (const column of columns) {
    const text = cell(cells, column)
    if (text !== '') numbers[column] = NUMBER.test(text) ? Number(text) : text
  }
  return numbers
}

async function* onlyChunk(body: Buffer): AsyncIterable<Uint8Array> {
  yield body
}
