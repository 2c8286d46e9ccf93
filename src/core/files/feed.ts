// Reads imported files: bytes to rows of NDJSON, CSV or one JSON document, in batches, with line numbers.
// Rows and batches have a maximum size, so that memory use does not depend on the size of the file.
import { Tokenizer, TokenParser, TokenType } from '@streamparser/json'
import { parse as csvParser } from 'csv-parse'
import { createGunzip } from 'node:zlib'
import { Readable } from 'node:stream'
import { type Reason, reason, textOf } from '../problems.ts'

/** Input of an import: plain bytes (already decompressed), and the file name if there is one. */
export interface FeedSource {
  bytes: AsyncIterable<Uint8Array>
  fileName: string | null
}

/** The input is not in the requested format, or the file as a whole is damaged. */
export class FeedError extends Error {
  override name = 'FeedError'
  readonly why: Reason

  constructor(why: Reason) {
    super(textOf(why))
    this.why = why
  }
}

export type FeedLine<T> = { line: number; value: T } | { line: number; reject: Reason }

/** Maximum rows, and characters, of a batch. */
const BATCH = 1_000
const BATCH_CHARACTERS = 2 * 1024 * 1024
/** Largest row: a line, a CSV record, or an entry of a JSON document with the text before it. */
const MAX_ROW_MB = 1
const MAX_ROW_BYTES = MAX_ROW_MB * 1024 * 1024
const MAX_COLUMNS = 1_000
/** Maximum nesting of a JSON document: the parser checks all levels with every value. */
const DEEPEST = 100
/** Text passed to the JSON parser in one call: all its values are in memory at the same time. */
const PIECE = 64 * 1024
/** Real feeds expand 3 to 30 times; a file that expands far more was made to exhaust memory. */
const MAX_EXPANSION = 200
const UNJUDGED_BYTES = 64 * 1024 * 1024

/** Decompresses gzip. A truncated or damaged file, and one that expands far too much, becomes a `FeedError`. */
export async function* gunzip(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const source = Readable.from(bytes, { objectMode: false })
  const unzip = createGunzip()
  source.on('error', (error) => unzip.destroy(error))
  try {
    let unpacked = 0
    for await (const chunk of source.pipe(unzip) as AsyncIterable<Buffer>) {
      unpacked += chunk.length
      if (unpacked > UNJUDGED_BYTES && unpacked > MAX_EXPANSION * unzip.bytesWritten) {
        throw new FeedError(reason('gzip_ratio', { max: MAX_EXPANSION }))
      }
      yield chunk
    }
  } catch (error) {
    const code = (error as { code?: string }).code
    if (code?.startsWith('Z_')) throw new FeedError(reason('gzip_damaged'))
    throw error
  } finally {
    source.destroy()
  }
}

/** Text of the input in chunks, without a byte order mark; invalid UTF-8 is a `FeedError`. */
export async function* utf8Text(bytes: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for await (const chunk of bytes) {
      const text = decoder.decode(chunk, { stream: true })
      if (text) yield text
    }
    const rest = decoder.decode()
    if (rest) yield rest
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_ENCODING_INVALID_ENCODED_DATA') {
      throw new FeedError(reason('utf8', { part: 'file' }))
    }
    throw error
  }
}

/** One JSON object per line. Any other line is yielded as `reject`; blank lines are skipped. */
export async function* ndjsonRows(source: FeedSource): AsyncIterable<FeedLine<Record<string, unknown>>[]> {
  let batch: FeedLine<Record<string, unknown>>[] = []
  let characters = 0
  let pending = ''
  let line = 0
  const take = (text: string) => {
    line += 1
    if (text.length > MAX_ROW_BYTES) throw tooLong(line, 'NDJSON')
    if (!text.trim()) return
    batch.push(parseObjectLine(line, text))
    characters += text.length
  }
  for await (const chunk of utf8Text(source.bytes)) {
    const lines = (pending + chunk).split('\n')
    pending = lines.pop()!
    if (pending.length > MAX_ROW_BYTES) throw tooLong(line + lines.length + 1, 'NDJSON')
    for (const text of lines) {
      take(text)
      if (batch.length < BATCH && characters < BATCH_CHARACTERS) continue
      yield batch
      batch = []
      characters = 0
    }
  }
  take(pending)
  if (batch.length > 0) yield batch
}

function tooLong(line: number, format: 'NDJSON' | 'CSV'): FeedError {
  return new FeedError(reason('line_size', { line, max: MAX_ROW_MB, format }))
}

function parseObjectLine(line: number, text: string): FeedLine<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return { line, value: value as Record<string, unknown> }
    }
    return { line, reject: reason('json_object', { part: 'line' }) }
  } catch {
    return { line, reject: reason('json', { part: 'line' }) }
  }
}

/** A value of a JSON document and its path of keys and positions. */
export interface JsonEntry {
  path: (string | number)[]
  value: unknown
}

/**
 * The values of one JSON document at the given paths, in file order, each as soon as it is read.
 * @param paths such as `$.products.*`, where `*` is any key or position; no path is inside another
 */
export async function* jsonEntries(source: FeedSource, paths: string[]): AsyncIterable<JsonEntry[]> {
  const tokens = new Tokenizer()
  const parser = new TokenParser({ paths, keepStack: false })
  let batch: JsonEntry[] = []
  let characters = 0
  let sinceEntry = 0
  let depth = 0
  tokens.onToken = (token) => {
    if (token.token === TokenType.LEFT_BRACE || token.token === TokenType.LEFT_BRACKET) depth += 1
    else if (token.token === TokenType.RIGHT_BRACE || token.token === TokenType.RIGHT_BRACKET) depth -= 1
    if (depth > DEEPEST) throw new FeedError(reason('at_most', { part: 'file', units: 'levels', max: DEEPEST }))
    parser.write(token)
  }
  parser.onValue = ({ value, key, stack }) => {
    sinceEntry = 0
    batch.push({ path: [...stack.slice(1).map((level) => level.key!), key!], value })
  }
  for await (const text of utf8Text(source.bytes)) {
    for (let at = 0; at < text.length; at += PIECE) {
      const piece = text.slice(at, at + PIECE)
      sinceEntry += piece.length
      parseJson(() => tokens.write(piece))
      if (sinceEntry > MAX_ROW_BYTES) throw new FeedError(reason('at_most', { part: 'entry', units: 'bytes', max: MAX_ROW_BYTES }))
      characters += piece.length
      if (batch.length < BATCH && characters < BATCH_CHARACTERS) continue
      yield batch
      batch = []
      characters = 0
    }
  }
  parseJson(() => tokens.end())
  if (!parser.isEnded) throw new FeedError(NO_DOCUMENT)
  yield batch
}

const NO_DOCUMENT = reason('json', { part: 'file' })

/** The parser throws only because of the text. */
function parseJson(step: () => void): void {
  try {
    step()
  } catch (error) {
    throw error instanceof FeedError ? error : new FeedError(NO_DOCUMENT)
  }
}
/**
 * Rows of a CSV with a header line, each as header → cell text. The delimiter is the one of `,`, `;` and tab that the
 * header line uses most. A row with another number of cells than the header is yielded as `reject`. The line of a row
 * whose cells contain line breaks is the one where it ends (a CRLF within a cell counts as two).
 * @param required header names that must exist, otherwise `FeedError` is thrown; or a check of the header that throws it
 */
export async function* csvRows(
  source: FeedSource,
  required: readonly string[] | ((header: readonly string[]) => void),
): AsyncIterable<FeedLine<Record<string, string>>[]> {
  let header: string[] | null = null
  let batch: FeedLine<Record<string, string>>[] = []
  let characters = 0
  for await (const records of csvRecords(source)) {
    for (const { cells, line, size } of records) {
      if (header) batch.push(csvLine(header, cells, line))
      else {
        header = cells.map((name) => name.trim())
        if (header.length > MAX_COLUMNS) throw new FeedError(reason('at_most', { part: 'header', units: 'columns', max: MAX_COLUMNS }))
        if (typeof required === 'function') required(header)
        else requireColumns(header, required)
      }
      characters += size
      if (batch.length < BATCH && characters < BATCH_CHARACTERS) continue
      yield batch
      batch = []
      characters = 0
    }
  }
  if (batch.length > 0) yield batch
}

interface CsvRecord {
  cells: string[]
  line: number
  /** characters of its text */
  size: number
}

/** Up to the first quote, a record is a line split at its delimiters: ten times faster than a CSV parser. */
async function* csvRecords(source: FeedSource): AsyncIterable<CsvRecord[]> {
  const text = utf8Text(source.bytes)[Symbol.asyncIterator]()
  try {
    let head = await textToLineEnd(text)
    // Some programs tell spreadsheets the delimiter in a line before the header.
    const separator = /^"?sep=[,;\t]"?\r?\n/.exec(head)
    if (separator) head = await textToLineEnd(text, head.slice(separator[0].length))
    if (!head.trim()) throw new FeedError(reason('file_empty'))
    const delimiter = likeliestDelimiter(head.trimStart().split('\n', 1)[0]!)
    let line = separator ? 1 : 0
    let pending = head
    for (;;) {
      const quote = pending.indexOf('"')
      const end = quote < 0 ? pending.lastIndexOf('\n') : pending.lastIndexOf('\n', quote)
      let records: CsvRecord[] = []
      // One batch at a time: the records of a long piece would live long enough to be copied to the old heap.
      for (let at = 0; at <= end; ) {
        const lineEnd = pending.indexOf('\n', at)
        addPlain(records, pending.slice(at, pending[lineEnd - 1] === '\r' && lineEnd > at ? lineEnd - 1 : lineEnd), delimiter, (line += 1))
        at = lineEnd + 1
        if (records.length < BATCH) continue
        yield records
        records = []
      }
      if (records.length > 0) yield records
      pending = pending.slice(end + 1)
      if (quote >= 0) return yield* parsedRecords(pending, text, delimiter, line)
      if (pending.length > MAX_ROW_BYTES) throw tooLong(line + 1, 'CSV')
      const next = await text.next()
      if (!next.done) {
        pending += next.value
        continue
      }
      const last: CsvRecord[] = []
      addPlain(last, pending, delimiter, line + 1)
      return yield last
    }
  } finally {
    await text.return?.()
  }
}

/** Splits a line without quotes into its cells; an empty line is not a record. */
function addPlain(records: CsvRecord[], text: string, delimiter: string, line: number): void {
  if (text.length > MAX_ROW_BYTES) throw tooLong(line, 'CSV')
  if (text !== '') records.push({ cells: text.split(delimiter), line, size: text.length })
}

/** Records with quotes among them, from `head` and the text after it; `lines` lines precede them. */
async function* parsedRecords(head: string, text: AsyncIterator<string>, delimiter: string, lines: number): AsyncIterable<CsvRecord[]> {
  const parser = csvParser({
    delimiter,
    // Set explicitly: a delimiter guessed from the header would merge the rows of a file that mixes both.
    record_delimiter: ['\r\n', '\n'],
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    info: true,
    trim: false,
    max_record_size: MAX_ROW_BYTES,
  })
  const rest = async function* () {
    yield head
    for (;;) {
      const next = await text.next()
      if (next.done) return
      yield next.value
    }
  }
  const input = Readable.from(rest(), { highWaterMark: 1 })
  input.on('error', (error) => parser.destroy(error))
  input.pipe(parser)
  let records: CsvRecord[] = []
  let characters = 0
  let bytes = 0
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { lines: number; bytes: number } }>) {
      const size = info.bytes - bytes
      bytes = info.bytes
      records.push({ cells: record, line: lines + info.lines, size })
      characters += size
      if (records.length < BATCH && characters < BATCH_CHARACTERS) continue
      yield records
      records = []
      characters = 0
    }
  } catch (error) {
    if ((error as { code?: string }).code?.startsWith('CSV_')) {
      throw new FeedError(reason('csv', { cause: (error as Error).message }))
    }
    throw error
  } finally {
    input.destroy()
  }
  yield records
}

/** Reads text until it contains the end of a line. */
async function textToLineEnd(text: AsyncIterator<string>, start = ''): Promise<string> {
  let head = start
  while (!head.trimStart().includes('\n') && head.length <= MAX_ROW_BYTES) {
    const next = await text.next()
    if (next.done) break
    head += next.value
  }
  return head
}

/** @throws FeedError if the header lacks one of these columns */
export function requireColumns(header: readonly string[], names: readonly string[]) {
  const missing = names.filter((name) => !header.includes(name))
  if (missing.length > 0) throw new FeedError(reason('header', { columns: missing }))
}

function csvLine(header: string[], cells: string[], line: number): FeedLine<Record<string, string>> {
  if (cells.length !== header.length) {
    return { line, reject: reason('row_cells', { count: cells.length, other: header.length }) }
  }
  const value: Record<string, string> = {}
  for (let i = 0; i < header.length; i += 1) value[header[i]!] = cells[i]!
  return { line, value }
}

function likeliestDelimiter(headerLine: string): string {
  const counts = [',', ';', '\t'].map((d) => ({ d, n: headerLine.split(d).length }))
  return counts.reduce((a, b) => (b.n > a.n ? b : a)).d
}
