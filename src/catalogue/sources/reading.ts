// Shared by the catalogue formats: reads values of loosely typed JSON and lines of files and documents, and rejects repeated refs.
import { hash } from 'node:crypto'
import { FeedError, type FeedLine, type FeedSource, jsonEntries } from '#core/files/feed.ts'
import { MAX_INTEGER } from '#core/fields.ts'
import { type Problem, problem, type Reason, reason } from '#core/problems.ts'
import { cleanText } from '#core/text.ts'
import type { CatalogueRow, CategoryRecord, IdMove, ItemRecord, SourceKey } from '../records/catalogue-records.ts'

/** Maximum length of a ref, name, code or foreign id, as in `shortText`: the database indexes them. */
const MAX_TEXT_LENGTH = 500
/** Maximum length of an attribute value, as in `AttributeList`. */
const MAX_VALUE_LENGTH = 10_000

export type Json = Record<string, unknown>

/** The result of a row, before its line number is added. */
export type Entry = { category: CategoryRecord } | { item: ItemRecord; key: SourceKey } | { moved: IdMove } | { reject: Reason }

/** Trimmed text; undefined for anything else, and for text without visible characters. */
export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? cleanText(value) || undefined : undefined
}

/** Text that can be part of a ref; undefined for anything else. */
export function identifier(value: unknown): string | undefined {
  const found = text(value)
  return found !== undefined && found.length <= MAX_TEXT_LENGTH ? found : undefined
}

/** A web address; undefined for anything else. */
export function address(value: unknown): string | undefined {
  const found = text(value)
  return found && /^https?:\/\/\S+$/.test(found) ? found : undefined
}

/** The texts of a list; undefined if there are none. */
export function texts(value: unknown): string[] | undefined {
  const found = Array.isArray(value) ? value.map(text).filter((t) => t !== undefined) : []
  return found.length > 0 ? found : undefined
}

/** A positive integer that fits a database integer, also if written as text; undefined for anything else. */
export function wholeNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isInteger(number) && number > 0 && number <= MAX_INTEGER ? number : undefined
}

/** The positive integers of a list; undefined if there are none. Other entries are ignored. */
export function wholeNumbers(value: unknown): number[] | undefined {
  const found = Array.isArray(value) ? value.map(wholeNumber).filter((n) => n !== undefined) : []
  return found.length > 0 ? found : undefined
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Attributes in the given order, without those that have no value. */
export function attributeList(entries: readonly (readonly [string, string | undefined])[]): ItemRecord['attributes'] {
  return entries.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]))
}

/** Import order of the kinds of files (`CatalogueFormat.rank`). */
export const RANK = { series: 0, sets: 1, cards: 2 } as const

const SAMPLE_ROWS = 100
/** Maximum items of a file, because all of its refs are kept in memory while it is read; larger catalogues must be split. */
const MAX_ITEMS = 1_000_000
const MAX_CATEGORIES = 20_000
/** Longer refs are kept in memory as digests. */
const MAX_KEY_LENGTH = 40

/**
 * Turns lines into catalogue rows. A ref that is repeated within a file is rejected: only its first row is used.
 * @param format the format's name, for the reason of a rejection
 * @param entriesOf returns null if the row does not have this format; if none of the first 100 rows has it, a `FeedError` is thrown
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

/** What has been read from a file: line numbers by ref, and counts of each kind. */
interface Seen {
  lines: Map<string, number>
  items: number
  categories: number
}

function numbered(line: number, entry: Entry, seen: Seen): CatalogueRow {
  if ('reject' in entry || 'moved' in entry) return { line, ...entry }
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
  if (seen.items > MAX_ITEMS) throw new FeedError(reason('at_most', { part: 'file', units: 'items', max: MAX_ITEMS, advice: 'split it' }))
  if (seen.categories > MAX_CATEGORIES)
    throw new FeedError(reason('at_most', { part: 'file', units: 'categories', max: MAX_CATEGORIES, advice: 'split it' }))
  return { line, ...entry }
}

/** The ref itself, or its digest if it is long. */
function keyOf(text: string): string {
  return text.length > MAX_KEY_LENGTH ? hash('sha1', text, 'base64') : text
}

/** The first field that exceeds its maximum length; undefined if all can be stored. */
function longText(record: ItemRecord | CategoryRecord): Problem | undefined {
  const { ref, name } = record
  if (isLong(ref)) return problem('ref', 'text', { max: MAX_TEXT_LENGTH })
  if (isLong(name)) return problem('name', 'text', { max: MAX_TEXT_LENGTH })
  if (!('category' in record)) return isLong(record.parent) ? problem('parent', 'text', { max: MAX_TEXT_LENGTH }) : undefined
  if (isLong(record.code)) return problem('code', 'text', { max: MAX_TEXT_LENGTH })
  if (isLong(record.category)) return problem('category', 'text', { max: MAX_TEXT_LENGTH })
  for (const { id, finish } of record.foreignIds) if (isLong(id) || isLong(finish)) return problem('foreignIds', 'text', { max: MAX_TEXT_LENGTH })
  for (const detail of Object.values(record.details)) {
    if (Array.isArray(detail) ? detail.some(isLong) : isLong(detail)) return problem('details', 'text', { max: MAX_TEXT_LENGTH })
  }
  for (const { value } of record.attributes) if (value.length > MAX_VALUE_LENGTH) return problem('attributes', 'text', { max: MAX_VALUE_LENGTH })
  return undefined
}

function isLong(value: unknown): boolean {
  return typeof value === 'string' && value.length > MAX_TEXT_LENGTH
}

/**
 * Entries of a list or object in a JSON document as lines: position + 1. Entries that are not objects are rejected.
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

/** The start of a file (without byte order mark and white space), and the whole file for reading afterwards. */
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
