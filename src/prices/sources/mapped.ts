// Lists of any shop: CSV, or JSON objects a line or in one array, read by a mapping of columns.
import { csvRows, FeedError, type FeedLine, type FeedSource, jsonEntries, ndjsonRows, utf8Text } from '#core/feed.ts'
import { parseLabel } from '#core/labels.ts'
import type { FeedRow, ItemKey, ItemKeys, ItemWords, PriceFormat, PriceReadOptions } from '#prices/records.ts'
import { ID_SOURCES, type PriceMapping, readMapping, type ReadMapping } from '../mappings.ts'
import { amountIn, shown, textOf, timeOf } from './cells.ts'
import { addPrice, feedRows } from './rows.ts'

const WORDS = ['name', 'number', 'set', 'finish', 'game', 'language'] as const
/** What stands for a byte that is not of the encoding. */
const UNREADABLE = '\uFFFD'
/** A row of a list has no more entries. */
const MOST_ENTRIES = 1_000
/** The name of an entry in its row. */
const ENTRY_NAME = '@key'

type CellOf = (column: string) => unknown

export const pricesCsv: PriceFormat = {
  name: 'prices-csv',
  title: 'Any list of prices (CSV), by a mapping of its columns',
  defaultMarket: null,
  mapped: true,
  marks: [],
  read: (source, options) => {
    const { mapping, read } = opened(options)
    const wanted = [...columnsOf(read), ...Object.keys(mapping.only ?? {})]
    const lines = csvRows(decoded(source, mapping), (header) => checkHeader(header, wanted))
    return feedRows(lines, (row, line, rows) => readRow((column) => row[column], { line, rows, read, mapping, options }))
  },
}

export const pricesNdjson: PriceFormat = {
  name: 'prices-ndjson',
  title: 'Any list of prices (a JSON object a line, or an array of them), by a mapping of its members',
  defaultMarket: null,
  mapped: true,
  marks: [],
  read: (source, options) => {
    const { mapping, read } = opened(options)
    const wanted = read.prices.flatMap(({ value }) => value.columns)
    const lines = withAnyOf(objects(decoded(source, mapping)), wanted, mapping)
    return feedRows(lines, (row, line, rows) => {
      for (const cellOf of entriesOf(row, mapping.entries)) readRow(cellOf, { line, rows, read, mapping, options })
    })
  },
}

function opened({ mapping }: PriceReadOptions): { mapping: PriceMapping; read: ReadMapping } {
  if (!mapping) throw new FeedError('the format needs a mapping of columns, such as price=eur_price,set=set,number=number,name=name')
  return { mapping, read: readMapping(mapping, 'map') }
}

interface Reading {
  line: number
  rows: FeedRow[]
  read: ReadMapping
  mapping: PriceMapping
  options: PriceReadOptions
}

/** The prices of a row, or of an entry of one. */
function readRow(cellOf: CellOf, { line, rows, read, mapping, options: { market, nowMs } }: Reading): void {
  for (const [column, wanted] of Object.entries(mapping.only ?? {})) if (textOf(cellOf(column)) !== wanted) return
  const reject = (reason: string) => void rows.push({ line, reject: reason })
  const into = mapping.market ?? market
  if (!into) throw new FeedError('the mapping names no market')
  const texts = new Map<string, string>()
  for (const [field, { text }] of read.fields) {
    const value = textOf(text(cellOf))
    if (value.includes(UNREADABLE)) return reject(`${field}: "${shown(value)}" is not in the encoding ${mapping.encoding ?? 'utf-8'}`)
    texts.set(field, value)
  }
  const item = itemOf(texts)
  if (item === null) return reject('the row names no item')
  const stated = texts.get('label') ?? ''
  const label = stated === '' ? 'Near Mint' : parseLabel(stated)?.label
  const time = read.fields.has('updated_at') ? timeOf(texts.get('updated_at'), 'updated_at') : nowMs
  for (const price of read.prices) {
    const value = amountIn(price.value.text(cellOf), price.field, mapping)
    const own = price.label ?? label
    if (own === undefined && value !== null) reject(`label: "${shown(stated)}" is neither a condition nor a grader with a grade`)
    else addPrice(rows, { line, item, market: into, label: own ?? '', ...(mapping.currency && { currency: mapping.currency }) }, value, time)
  }
}

function itemOf(texts: ReadonlyMap<string, string>): ItemKeys | null {
  const words: ItemWords = {}
  for (const field of WORDS) {
    const text = texts.get(field)
    if (text) words[field] = field === 'language' || field === 'game' ? text.toLowerCase() : text
  }
  const anyOf: ItemKey[] = []
  const ref = texts.get('item_ref')
  if (ref) anyOf.push({ ref })
  for (const source of ID_SOURCES) {
    const id = texts.get(`${source}_id`)
    if (id) anyOf.push({ source, id, ...(words.finish !== undefined && { finish: words.finish }) })
  }
  return anyOf.length === 0 && words.name === undefined ? null : { anyOf, ...words }
}

function columnsOf({ prices, fields }: ReadMapping): string[] {
  return [...prices.map(({ value }) => value), ...fields.values()].flatMap(({ columns }) => columns)
}

function checkHeader(header: readonly string[], wanted: readonly string[]): void {
  const missing = [...new Set(wanted)].filter((name) => !header.includes(name))
  if (missing.length > 0) throw new FeedError(`the header has no column ${missing.map((name) => `"${name}"`).join(', ')} (it has ${shownList(header)})`)
  const twice = wanted.find((name) => header.indexOf(name) !== header.lastIndexOf(name))
  if (twice !== undefined) throw new FeedError(`the header has the column "${twice}" twice`)
}

function shownList(names: readonly string[]): string {
  const most = 20
  return names.slice(0, most).map((name) => `"${shown(name)}"`).join(', ') + (names.length > most ? ` and ${names.length - most} more` : '')
}

/** The file as UTF-8 text, in which `UNREADABLE` stands for what is not of its encoding, so that only those rows are refused. */
function decoded({ bytes, fileName }: FeedSource, { encoding = 'utf-8' }: PriceMapping): FeedSource {
  return { fileName, bytes: recoded(bytes, encoding) }
}

async function* recoded(bytes: AsyncIterable<Uint8Array>, encoding: string): AsyncIterable<Uint8Array> {
  let decoder: TextDecoder | null = null
  for await (const chunk of bytes) {
    // A byte order mark of UTF-16 is what Excel writes before "Unicode text".
    const isUtf16 = decoder === null && chunk[0] === 0xff && chunk[1] === 0xfe
    decoder ??= new TextDecoder(isUtf16 ? 'utf-16le' : encoding)
    const text = decoder.decode(chunk, { stream: true })
    if (text !== '') yield Buffer.from(text)
  }
  const rest = decoder?.decode()
  if (rest) yield Buffer.from(rest)
}

/** Objects a line, or those of one array. */
async function* objects(source: FeedSource): AsyncIterable<FeedLine<Record<string, unknown>>[]> {
  const { isArray, all } = await begun(source)
  if (!isArray) return yield* ndjsonRows(all)
  let line = 0
  for await (const entries of jsonEntries(all, ['$.*'])) {
    yield entries.map(({ value }) => {
      line += 1
      return isObject(value) ? { line, value } : { line, reject: 'the entry is not a JSON object' }
    })
  }
}

/** Whether the text begins with an array; and all of it. */
async function begun({ bytes, fileName }: FeedSource): Promise<{ isArray: boolean; all: FeedSource }> {
  const texts = utf8Text(bytes)[Symbol.asyncIterator]()
  let head = ''
  let next = await texts.next()
  while (!next.done) {
    head += next.value
    if (head.trim() !== '') break
    next = await texts.next()
  }
  const rest = async function* () {
    yield Buffer.from(head)
    for (let more = await texts.next(); !more.done; more = await texts.next()) yield Buffer.from(more.value)
  }
  return { isArray: head.trimStart().startsWith('['), all: { fileName, bytes: rest() } }
}

/** Passes rows on, if one at least of the first batch has one of the wanted members. */
async function* withAnyOf(lines: AsyncIterable<FeedLine<Record<string, unknown>>[]>, wanted: readonly string[], mapping: PriceMapping): AsyncIterable<FeedLine<Record<string, unknown>>[]> {
  let first = true
  for await (const batch of lines) {
    const has = (row: Record<string, unknown>) => entriesOf(row, mapping.entries).some((cellOf) => wanted.some((path) => cellOf(path) !== undefined))
    if (first && wanted.length > 0 && !batch.some((entry) => 'value' in entry && has(entry.value))) {
      throw new FeedError(`no row has a member ${wanted.map((path) => `"${shown(path)}"`).join(' or ')}`)
    }
    first = false
    yield batch
  }
  if (first) throw new FeedError('the file is empty')
}

/**
 * The entries of a row, each with what the row itself has; the row alone where it has none. `@key` is the name or the
 * position of an entry.
 */
function entriesOf(row: Record<string, unknown>, path: string | undefined): CellOf[] {
  const own: CellOf = (column) => memberAt(row, column)
  if (path === undefined) return [own]
  const names = path.split('.')
  let found: { key: string; value: unknown }[] = [{ key: '', value: row }]
  for (const name of names) {
    found = found.flatMap(({ value }) => {
      if (!isObject(value) && !Array.isArray(value)) return []
      if (name === '*') return Object.entries(value).map(([key, member]) => ({ key, value: member as unknown }))
      return Object.hasOwn(value, name) ? [{ key: name, value: (value as Record<string, unknown>)[name] }] : []
    })
  }
  const entries = found.filter(({ value }) => isObject(value)).slice(0, MOST_ENTRIES)
  if (entries.length === 0) return [own]
  return entries.map(({ key, value }) => (column) => {
    if (column === ENTRY_NAME) return key
    return memberAt(value as Record<string, unknown>, column) ?? own(column)
  })
}

/** A member by its name, or by a path of names with dots between them. */
function memberAt(row: Record<string, unknown>, path: string): unknown {
  if (Object.hasOwn(row, path)) return row[path]
  let value: unknown = row
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  return value
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
