// Price lists of any shop, read by a column mapping: CSV, or JSON with one object per line or in one array.
import { csvRows, FeedError, type FeedLine, type FeedSource, jsonEntries, ndjsonRows, utf8Text } from '#core/files/feed.ts'
import { DAY_MS } from '#core/duration.ts'
import { parseLabel } from '#core/labels.ts'
import type { Market } from '#core/markets.ts'
import { problem, type Reason, reason } from '#core/problems.ts'
import type { FeedRow, ItemKey, ItemKeys, ItemWords, PriceFormat, PriceReadOptions } from '#prices/records/feed-rows.ts'
import { ID_SOURCES, type PriceMapping, readMapping, type ReadMapping } from '../records/mappings.ts'
import { amountIn, type Cell, inLatestYear, truncate, textOf, timeOf } from './cells.ts'
import { addPrice, feedRows } from './rows.ts'

const WORDS = ['name', 'number', 'set', 'finish', 'game', 'language'] as const
/** Replacement for a byte that is invalid in the encoding. */
const UNREADABLE = '\uFFFD'
/** Maximum entries in a row of a list. */
const MAX_ENTRIES = 1_000
/** Maximum columns named in a message. */
const MAX_SHOWN = 20
/** The column with the name of an entry in its row. */
const ENTRY_NAME = '@key'

type CellOf = (column: string) => unknown

export const pricesCsv: PriceFormat = {
  name: 'prices-csv',
  title: 'Any price list (CSV), with a column mapping',
  defaultMarket: null,
  mapped: true,
  marks: [],
  read: (source, options) => {
    const reading = readingOf(options)
    const { mapping, read } = reading
    const mappedColumns = [...columnsOf(read), ...Object.keys(mapping.only ?? {})]
    const lines = csvRows(decoded(source, mapping), (header) => {
      checkHeader(header, mappedColumns)
      requirePrices((column) => header.includes(column), reading)
    })
    return feedRows(lines, (row, line, rows) => readRow((column) => row[column], { line, rows }, reading))
  },
}

export const pricesNdjson: PriceFormat = {
  name: 'prices-ndjson',
  title: 'Any price list (JSON array, or one JSON object per line), with a member mapping',
  defaultMarket: null,
  mapped: true,
  marks: [],
  read: (source, options) => {
    const reading = readingOf(options)
    const { mapping, read } = reading
    const valuePaths = read.prices.flatMap(({ value }) => value.columns)
    const lines = withAnyOf(objects(decoded(source, mapping)), valuePaths, reading)
    return feedRows(lines, (row, line, rows) => {
      for (const cellOf of entriesOf(row, mapping.entries)) readRow(cellOf, { line, rows }, reading)
    })
  },
}

/** Lists whose amounts are means of offers, averages and sales, recognised by their columns or members. */
const MIXED_VALUES = [
  { marks: ['key', 'oldPriceBrl', 'newPriceBrl', 'changePercent'], mixed: ['oldPriceBrl', 'newPriceBrl'] },
  { marks: ['cardId', 'finish', 'priceBrl', 'sources'], mixed: ['priceBrl'] },
]

/** @throws FeedError if a column mapped as a price holds means of unlike values, which are the price of no market */
function requirePrices(has: (column: string) => boolean, { read }: Reading): void {
  for (const { marks, mixed } of MIXED_VALUES) {
    const column = read.prices.flatMap(({ value }) => value.columns).find((name) => mixed.includes(name))
    if (column !== undefined && marks.every(has)) throw new FeedError(reason('mixed_values', { column, format: 'singles-brl' }))
  }
}

/** How the rows of a file are read. */
interface Reading {
  mapping: PriceMapping
  read: ReadMapping
  market: Market
  nowMs: number
}

function readingOf({ mapping, market, nowMs }: PriceReadOptions): Reading {
  if (!mapping) throw new FeedError(problem('map', 'required'))
  const into = market ?? mapping.market
  if (!into) throw new FeedError(problem('market', 'required'))
  return { mapping, read: readMapping(mapping, 'map'), market: into, nowMs }
}

/** Adds the prices of a row, or of one of its entries. */
function readRow(cellOf: CellOf, { line, rows }: { line: number; rows: FeedRow[] }, reading: Reading): void {
  const { mapping, read, market } = reading
  for (const [column, onlyValue] of Object.entries(mapping.only ?? {})) if (textOf(cellOf(column)) !== onlyValue) return
  const reject = (why: Reason) => void rows.push({ line, reject: why })
  const unreadable = (field: string, text: string) => problem(field, 'encoding', { encoding: mapping.encoding ?? 'utf-8', value: truncate(text) })
  const texts = new Map<string, string>()
  for (const [field, { text }] of read.fields) {
    const value = textOf(text(cellOf))
    if (value.includes(UNREADABLE)) return reject(unreadable(field, value))
    texts.set(field, value)
  }
  const item = itemOf(texts)
  if (item === null) return reject(reason('no_item'))
  const stated = texts.get('label') ?? ''
  const label = stated === '' ? 'Near Mint' : parseLabel(stated)?.label
  const time = dateOf(texts, reading)
  for (const price of read.prices) {
    const cell = price.value.text(cellOf)
    const own = price.label ?? label
    const isUnreadable = typeof cell === 'string' && cell.includes(UNREADABLE)
    const value = isUnreadable ? unreadable(price.field, cell) : amountIn(cell, price.field, mapping)
    if (own === undefined && value !== null) reject(problem('label', 'label', { value: truncate(stated) }))
    else addPrice(rows, { line, item, market, label: own ?? '', ...(mapping.currency && { currency: mapping.currency }) }, value, time)
  }
}

/** The time of a row's prices. A date after the list recorded it is wrong, and refused unless only its year is a guess. */
function dateOf(texts: ReadonlyMap<string, string>, { mapping, read, nowMs }: Reading): Cell {
  const time = read.fields.has('updated_at') ? timeOf(texts.get('updated_at'), 'updated_at') : nowMs
  if (!read.fields.has('recorded_at') || typeof time !== 'number') return time
  const recorded = timeOf(texts.get('recorded_at'), 'recorded_at')
  if (typeof recorded !== 'number') return recorded ?? problem('recorded_at', 'required')
  if (mapping.years === 'guessed') return inLatestYear(time, recorded, 'updated_at')
  if (dayOfTime(time) <= dayOfTime(recorded)) return time
  return problem('updated_at', 'after_recorded', { value: isoDay(time), other: isoDay(recorded) })
}

function dayOfTime(ms: number): number {
  return Math.floor(ms / DAY_MS)
}

function isoDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
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

function checkHeader(header: readonly string[], mappedColumns: readonly string[]): void {
  const missing = [...new Set(mappedColumns)].filter((name) => !header.includes(name))
  if (missing.length > 0) throw new FeedError(reason('header', { columns: missing.map(truncate), values: shownList(header) }))
  const twice = mappedColumns.find((name) => header.indexOf(name) !== header.lastIndexOf(name))
  if (twice !== undefined) throw new FeedError(reason('header_twice', { value: truncate(twice) }))
}

function shownList(names: readonly string[]): string[] {
  const all = names.slice(0, MAX_SHOWN).map(truncate)
  return names.length > MAX_SHOWN ? [...all, '…'] : all
}

/** The file as UTF-8 text, with `UNREADABLE` for invalid bytes, so that only the rows with such bytes are refused. */
function decoded({ bytes, fileName }: FeedSource, { encoding = 'utf-8' }: PriceMapping): FeedSource {
  return { fileName, bytes: recoded(bytes, encoding) }
}

async function* recoded(bytes: AsyncIterable<Uint8Array>, encoding: string): AsyncIterable<Uint8Array> {
  let decoder: TextDecoder | null = null
  for await (const chunk of bytes) {
    // Excel starts "Unicode text" with a byte order mark of UTF-16.
    const isUtf16 = decoder === null && chunk[0] === 0xff && chunk[1] === 0xfe
    decoder ??= new TextDecoder(isUtf16 ? 'utf-16le' : encoding)
    const text = decoder.decode(chunk, { stream: true })
    if (text !== '') yield Buffer.from(text)
  }
  const rest = decoder?.decode()
  if (rest) yield Buffer.from(rest)
}

/** One object per line, or the objects of one array. */
async function* objects(source: FeedSource): AsyncIterable<FeedLine<Record<string, unknown>>[]> {
  const { isArray, all } = await begun(source)
  if (!isArray) return yield* ndjsonRows(all)
  let line = 0
  for await (const entries of jsonEntries(all, ['$.*'])) {
    yield entries.map(({ value }) => {
      line += 1
      return isObject(value) ? { line, value } : { line, reject: reason('json_object', { part: 'entry' }) }
    })
  }
}

/** Whether the text starts with an array, and a source that reads the whole text from its start. */
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

/** Passes rows on if at least one of the first batch has one of the wanted members. */
async function* withAnyOf(
  lines: AsyncIterable<FeedLine<Record<string, unknown>>[]>,
  paths: readonly string[],
  reading: Reading,
): AsyncIterable<FeedLine<Record<string, unknown>>[]> {
  let first = true
  for await (const batch of lines) {
    const has = (row: Record<string, unknown>) =>
      entriesOf(row, reading.mapping.entries).some((cellOf) => paths.some((path) => cellOf(path) !== undefined))
    if (first && paths.length > 0 && !batch.some((entry) => 'value' in entry && has(entry.value))) {
      throw new FeedError(reason('members', { values: paths.map(truncate) }))
    }
    if (first) for (const entry of batch) if ('value' in entry) requirePrices((member) => Object.hasOwn(entry.value, member), reading)
    first = false
    yield batch
  }
  if (first) throw new FeedError(reason('file_empty'))
}

/** The entries of a row, each with the row's own members; the row itself if it has none. `@key` is the name or position of an entry. */
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
  const entries = found.filter(({ value }) => isObject(value)).slice(0, MAX_ENTRIES)
  if (entries.length === 0) return [own]
  return entries.map(({ key, value }) => (column) => {
    if (column === ENTRY_NAME) return key
    return memberAt(value as Record<string, unknown>, column) ?? own(column)
  })
}

/** A member by name, or by a path of names separated by dots. */
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
