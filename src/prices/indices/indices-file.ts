// Reads price indices from a CSV with the columns `index`, `month` and `value`; every row must be valid, and a problem names its line and column.
import { invalid, invalidFields, ServiceError } from '#core/errors.ts'
import { csvRows, FeedError, type FeedLine, type FeedSource } from '#core/files/feed.ts'
import { bodyReader } from '#core/input.ts'
import { type Problem, reason } from '#core/problems.ts'
import { type GivenIndex, indexJudge, IndexRow, MAX_INDEX_ROWS } from './index-rows.ts'

export const INDEX_COLUMNS = ['index', 'month', 'value']

/** Maximum problems of an answer; the file has the others. */
const MAX_PROBLEMS = 100

const readRow = bodyReader(IndexRow)

/**
 * The rows of the file, for `setIndices`.
 * @throws VALIDATION_ERROR with the fields `line_4.month`, or `body` for a file that cannot be read
 */
export async function indicesOfCsv(source: FeedSource, now: Date): Promise<GivenIndex[]> {
  const rows: GivenIndex[] = []
  const problems: Problem[] = []
  const judge = indexJudge(now)
  try {
    for await (const lines of csvRows(source, INDEX_COLUMNS)) {
      for (const line of lines) {
        const read = rowOf(line)
        const wrong = Array.isArray(read) ? read : judge(read, { line: line.line })
        problems.push(...wrong.map((one) => ({ ...one, field: `line_${line.line}.${one.field}` })))
        if (!Array.isArray(read)) rows.push(read)
      }
      if (rows.length > MAX_INDEX_ROWS) throw new FeedError(reason('at_most', { part: 'file', units: 'rows', max: MAX_INDEX_ROWS }))
      if (problems.length >= MAX_PROBLEMS) break
    }
    if (rows.length === 0 && problems.length === 0) throw new FeedError(reason('file_empty'))
  } catch (error) {
    if (error instanceof FeedError) throw invalid('body', 'file', { must: error.why })
    throw error
  }
  if (problems.length > 0) throw invalidFields(problems.slice(0, MAX_PROBLEMS))
  return rows
}

/** The row, or what is wrong with its cells. */
function rowOf(line: FeedLine<Record<string, string>>): GivenIndex | Problem[] {
  if ('reject' in line) return [{ field: 'row', ...line.reject }]
  const [index, month, value] = INDEX_COLUMNS.map((name) => line.value[name]!.trim())
  try {
    return readRow({ index, month, value: /^\d+(\.\d+)?$/.test(value!) ? Number(value) : value })
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return [...error.details]
  }
}
