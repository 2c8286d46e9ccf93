// A CSV file in the body of a request, as rows for the verb that judges them.
import { invalid } from '#core/errors.ts'
import { csvRows, FeedError, type FeedLine } from '#core/feed.ts'

/**
 * What `rowOf` makes of each line. Reading ends once there are more than `most` rows, for the verb to refuse.
 * @param checkHeader throws a `FeedError` where columns are missing
 * @throws VALIDATION_ERROR if it cannot be read as such a file
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
