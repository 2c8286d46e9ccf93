// Parses a CSV file in the body of a request into rows for a verb.
import { invalid } from '#core/errors.ts'
import { csvRows, FeedError, type FeedLine } from '#core/feed.ts'

/**
 * The results of `rowOf` for each line. Reading stops after more than `most` rows, which the verb then rejects.
 * @param checkHeader throws a `FeedError` if columns are missing
 * @throws VALIDATION_ERROR if the file cannot be parsed
 */
export async function rowsOfCsvBody(
  body: Buffer,
  most: number,
  checkHeader: (header: readonly string[]) => void,
  rowOf: (line: FeedLine<Record<string, string>>) => unknown,
): Promise<unknown[]> {
  const rows: unknown[] = []
  try {
    for await (const lines of csvRows({ bytes: onlyChunk(body), fileName: null }, checkHeader)) {
      for (const line of lines) rows.push(rowOf(line))
      if (rows.length > most) break
    }
  } catch (error) {
    if (error instanceof FeedError) throw invalid('body', 'file', { must: error.why })
    throw error
  }
  return rows
}

async function* onlyChunk(body: Buffer): AsyncIterable<Uint8Array> {
  yield body
}
