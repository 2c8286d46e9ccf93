// What the catalogue formats share: values of loose JSON, lines of files and documents, and refusal of repeated refs.
import { hash } from 'node:crypto'
import { FeedError, type FeedLine, type FeedSource, jsonEntries } from '#core/feed.ts'
import { LARGEST_INTEGER } from '#core/fields.ts'
import { type Problem, problem, type Reason, reason } from '#core/problems.ts'
import { cleaned } from '#core/text.ts'
import type { CatalogueRow, CategoryRecord, ItemRecord, SourceKey } from '../records.ts'

/** Longest ref, name, code or foreign id, as `shortText` has it: the database looks them up in indexes. */
const LONGEST_TEXT = 500
/** Longest value of an attribute, as `AttributeList` has it. */
const LONGEST_VALUE = 10_000

export type Json = Record<string, unknown>

/** What a row gives, before its line number is put to it. */
export type Entry = { category: CategoryRecord } | { item: ItemRecord; key: SourceKey } | { reject: Reason }

/** Text without white space at its ends, undefined for anything else and for text that shows nothing. */
export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? cleaned(value) || undefined : undefined
}

/** Text that can be part of a ref, undefined for anything else. */
export function identifier(value: unknown): string | undefined {
  const found = text(value)
  return found !== undefined && found.length <= LONGEST_TEXT ? found : undefined
}

/** A web address, undefined for anything else. */
export function address(value: unknown): string | undefined {
  const found = text(value)
  return found && /^https?:\/\/\S+$/.test(found) ? found : undefined
}

/** The texts of a list, undefined when there is none. */
export function texts(value: unknown): string[] | undefined {
  const found = Array.isArray(value) ? value.map(text).filter((t) => t !== undefined) : []
  return found.length > 0 ? found : undefined
}

/** A whole number from 1 up that fits a database integer, also when written as text; undefined for anything else. */
export function wholeNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isInteger(number) && number > 0 && number <= LARGEST_INTEGER ? number : undefined
}

/** The whole numbers of a list, undefined when there is none; other entries are passed over. */
export function wholeNumbers(value: unknown): number[] | undefined {
  const found = Array.isArray(value) ? value.map(wholeNumber).filter((n) => n !== undefined) : []
  return found.length > 0 ? found : undefined
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Attributes in the order given, without those that have no value. */
export function attributeList(entries: readonly (readonly [string, string | undefined])[]): ItemRecord['attributes'] {
  return entries.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]))
}

/** Where a kind of file stands among the files of one import (`CatalogueFormat.rank`). */
export const RANK = { series: 0, sets: 1, cards: 2 } as const

const SAMPLE_ROWS = 100
/** The refs of a file are in memory while it is read; larger catalogues come in several files. */
const MOST_ITEMS = 1_000_000
const MOST_CATEGORIES = 20_000
/** Longest key of a ref that is kept as it is. */
const LONGEST_KEY = 40

/**
 * Turns lines into catalogue rows. A ref that came before in the same file is refused: the first keeps it.
 * @param format its name, for the reason of a reject
 * @param entriesOf null says that the row is nothing of this format; when that is so for all of the first 100 rows the
 *   file is another format and a `FeedError` is thrown
 */
export async function* catalogueRows<T>(
  batches: AsyncIterable<FeedLine<T>[]>,
  format: string,
  entriesOf: (value: T) => Entry[] | null,
): AsyncIterable<CatalogueRow[]> {
  const seen: Seen = { lines: new Map(), items: 0, categories: 0 }
  let rows = 0
  let recognised = false
  const check = () => {
    if (!recognised) throw new FeedError(reason('file_rows', { count: Math.min(rows, SAMPLE_ROWS), format }))
  }
  for await (const batch of batches) {
    const out: CatalogueRow[] = []
    for (const read of batch) {
      rows += 1
      const entries = 'value' in read ? entriesOf(read.value) : [{ reject: read.reject }]
      recognised ||= entries !== null && 'value' in read
      for (const entry of entries ?? [{ reject: reason('row_format', { format }) }]) {
        out.push(numbered(read.line, entry, seen))
      }
      if (rows === SAMPLE_ROWS) check()
    }
    if (recognised) yield out
  }
  if (rows === 0) throw new FeedError(reason('file_empty'))
  check()
}

/** What a file has had so far: its lines by ref, and how many things of each kind. */
interface Seen {
  lines: Map<string, number>
  items: number
  categories: number
}

function numbered(line: number, entry: Entry, seen: Seen): CatalogueRow {
  if ('reject' in entry) return { line, ...entry }
  const kind = 'item' in entry ? 'item' : 'category'
  const record = 'item' in entry ? entry.item : entry.category
  const { market, ref, name } = record
  const long = longText(record)
  if (long !== undefined) return { line, reject: long }
  const key = keyOf(`${kind} ${market} ${ref}`)
  const first = seen.lines.get(key)
  if (first !== undefined) return { line, reject: reason('row_again', { thing: kind, ref, name, line: first }) }
  seen.lines.set(key, line)
  if (kind === 'item') seen.items += 1
  else seen.categories += 1
  if (seen.items > MOST_ITEMS) throw new FeedError(reason('at_most', { part: 'file', units: 'items', max: MOST_ITEMS, advice: 'split it' }))
  if (seen.categories > MOST_CATEGORIES)
    throw new FeedError(reason('at_most', { part: 'file', units: 'categories', max: MOST_CATEGORIES, advice: 'split it' }))
  return { line, ...entry }
}

/** Refs may be long, their digests are not. */
function keyOf(text: string): string {
  return text.length > LONGEST_KEY ? hash('sha1', text, 'base64') : text
}

/** The field that is longer than it may be, undefined when all can be stored. */
function longText(record: ItemRecord | CategoryRecord): Problem | undefined {
  const { ref, name } = record
  if (isLong(ref)) return problem('ref', 'text', { max: LONGEST_TEXT })
  if (isLong(name)) return problem('name', 'text', { max: LONGEST_TEXT })
  if (!('category' in record)) return isLong(record.parent) ? problem('parent', 'text', { max: LONGEST_TEXT }) : undefined
  if (isLong(record.code)) return problem('code', 'text', { max: LONGEST_TEXT })
  if (isLong(record.category)) return problem('category', 'text', { max: LONGEST_TEXT })
  for (const { id, finish } of record.foreignIds) if (isLong(id) || isLong(finish)) return problem('foreignIds', 'text', { max: LONGEST_TEXT })
  for (const detail of Object.values(record.details)) {
    if (Array.isArray(detail) ? detail.some(isLong) : isLong(detail)) return problem('details', 'text', { max: LONGEST_TEXT })
  }
  for (const { value } of record.attributes) if (value.length > LONGEST_VALUE) return problem('attributes', 'text', { max: LONGEST_VALUE })
  return undefined
}

function isLong(value: unknown): boolean {
  return typeof value === 'string' && value.length > LONGEST_TEXT
}

/**
 * Entries of a list or object in a JSON document as lines: position + 1. What is no object is refused.
 * @param path of the entries, such as `$.products.*`
 */
export async function* documentLines(source: FeedSource, path: string): AsyncIterable<FeedLine<Json>[]> {
  let line = 0
  for await (const entries of jsonEntries(source, [path])) {
    yield entries.map(({ value }): FeedLine<Json> => {
      line += 1
      return isObject(value) ? { line, value } : { line, reject: reason('json_object', { part: 'entry' }) }
    })
  }
}

const PEEK_BYTES = 512

/** The beginning of a file (without byte order mark and white space), and the whole file to be read after. */
export async function peek(source: FeedSource): Promise<{ start: string; source: FeedSource }> {
  const bytes = source.bytes[Symbol.asyncIterator]()
  const head: Uint8Array[] = []
  for (let size = 0; size < PEEK_BYTES; ) {
    const next = await bytes.next()
    if (next.done) break
    head.push(next.value)
    size += next.value.length
  }
  const whole = async function* () {
    try {
      yield* head
      for (let next = await bytes.next(); !next.done; next = await bytes.next()) yield next.value
    } finally {
      await bytes.return?.()
    }
  }
  const start = new TextDecoder().decode(Buffer.concat(head).subarray(0, PEEK_BYTES)).trimStart()
  return { start, source: { ...source, bytes: whole() } }
}
