// Parses a CSV file in the body of a request into rows for a verb.
import { invalid } from '#core/errors.ts'
import { csvRows, FeedError, type FeedLine } from '#core/files/feed.ts'
import { truncate } from '#prices/sources/cells.ts'

type Cells = Record<string, string>

/** How a file is read, chosen by its header. */
export interface CsvReader {
  /** columns of the header that are read */
  columns: readonly string[]
  rowOf: (line: FeedLine<Cells>) => unknown
}

/** Ignored columns in an answer: a header can have 1,000. */
const MAX_IGNORED = 100

const ignoredColumns = new WeakMap<readonly unknown[], string[]>()

/** Columns of the file that the rows come from which were not read; none for rows sent as JSON. */
export function ignoredColumnsOf(rows: readonly unknown[]): string[] {
  return ignoredColumns.get(rows) ?? []
}

/**
 * The rows of a file. Reading stops after more than `most` rows, which the verb then rejects.
 * @param readerOf throws a `FeedError` if columns are missing
 * @throws VALIDATION_ERROR if the file cannot be parsed
 */
export async function rowsOfCsvBody(body: Buffer, most: number, readerOf: (header: readonly string[]) => CsvReader): Promise<unknown[]> {
  const rows: unknown[] = []
  let reader: CsvReader
  const readHeader = (header: readonly string[]) => {
    reader = readerOf(header)
    const ignored = header.filter((name) => name.trim() !== '' && !reader.columns.includes(name))
    ignoredColumns.set(rows, ignored.slice(0, MAX_IGNORED).map(truncate))
  }
  try {
    for await (const lines of csvRows({ bytes: onlyChunk(body), fileName: null }, readHeader)) {
      for (const line of lines) rows.push(reader!.rowOf(line))
      if (rows.length > most) break
    }
  } catch (error) {
    if (error instanceof FeedError) throw invalid('body', 'file', { must: error.why })
    throw error
  }
  return rows
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
  const named: Cells = {}
  for (const [name, column] of columns) named[name] = cells[column]!
  return named
}

async function* onlyChunk(body: Buffer): AsyncIterable<Uint8Array> {
  yield body
}
