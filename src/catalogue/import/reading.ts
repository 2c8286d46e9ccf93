// What the catalogue formats share: values of loose JSON, lines of files and documents, and refusal of repeated refs.
import { FeedError, type FeedLine, type FeedSource } from '#core/feed.ts'
import { cleaned } from '#core/text.ts'
import type { CatalogueRow, CategoryRecord, ItemRecord } from '../records.ts'

export type Json = Record<string, unknown>

/** What a row gives, before its line number is put to it. */
export type Entry = { category: CategoryRecord } | { item: ItemRecord } | { reject: string }

/** Text without white space at its ends, undefined for anything else and for text that shows nothing. */
export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? cleaned(value) || undefined : undefined
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
  return typeof number === 'number' && Number.isInteger(number) && number > 0 && number < 2 ** 31 ? number : undefined
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

/**
 * Turns lines into catalogue rows. A ref that came before in the same file is refused: the first keeps it.
 * @param expected what a row should be, with its article, for the reason of a reject
 * @param entriesOf null says that the row is nothing of this format; when that is so for all of the first 100 rows the
 *   file is another format and a `FeedError` is thrown
 */
export async function* catalogueRows<T>(
  batches: AsyncIterable<FeedLine<T>[]> | Iterable<FeedLine<T>[]>,
  expected: string,
  entriesOf: (value: T) => Entry[] | null,
): AsyncIterable<CatalogueRow[]> {
  const linesByRef = new Map<string, number>()
  let rows = 0
  let recognised = false
  const check = () => {
    if (!recognised) throw new FeedError(`none of the first ${Math.min(rows, SAMPLE_ROWS)} rows is ${expected}`)
  }
  for await (const batch of batches) {
    const out: CatalogueRow[] = []
    for (const read of batch) {
      rows += 1
      const entries = 'value' in read ? entriesOf(read.value) : [{ reject: read.reject }]
      recognised ||= entries !== null && 'value' in read
      for (const entry of entries ?? [{ reject: `the row is not ${expected}` }]) {
        out.push(numbered(read.line, entry, linesByRef))
      }
      if (rows === SAMPLE_ROWS) check()
    }
    if (recognised) yield out
  }
  if (rows === 0) throw new FeedError('the file is empty')
  check()
}

function numbered(line: number, entry: Entry, linesByRef: Map<string, number>): CatalogueRow {
  if ('reject' in entry) return { line, ...entry }
  const { market, ref, name } = 'item' in entry ? entry.item : entry.category
  const kind = 'item' in entry ? 'item' : 'category'
  const first = linesByRef.get(`${kind} ${market} ${ref}`)
  if (first !== undefined) return { line, reject: `the ${kind} ${ref} (${name}) came before, in line ${first}` }
  linesByRef.set(`${kind} ${market} ${ref}`, line)
  return { line, ...entry }
}

/** Entries of a JSON document as lines: position + 1. What is no object is refused. */
export function* documentLines(values: readonly unknown[]): Iterable<FeedLine<Json>[]> {
  yield values.map((value, i) =>
    isObject(value) ? { line: i + 1, value } : { line: i + 1, reject: 'the entry is no JSON object' },
  )
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
