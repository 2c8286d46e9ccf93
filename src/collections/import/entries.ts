// Entries of a collection file: a record whose item is described, but not yet matched to the catalogue.
import type { FeedSource } from '#core/files/feed.ts'
import { unescapeCell } from '#core/files/csv.ts'
import { csvRows, requireColumns } from '#core/files/feed.ts'
import { MAX_AMOUNT, parseSourceAmount } from '#core/money.ts'
import { problem, reason } from '#core/problems.ts'
import { fitsCharacters, isLine, isLines } from '#core/text.ts'
import { isTimeInRange, TIME_RANGE } from '#core/time.ts'
import { BadCell, cell, type Cells, type FileLine, quantityOf, readLine } from '#intake/cells.ts'
import type { StoredCertificate } from '#db/schema.ts'
import type { ItemDescription } from '#intake/match-items.ts'
import { amountIn, truncate } from '#prices/sources/cells.ts'
import { MAX_CODE_LENGTH, MAX_NOTE_LENGTH } from '../records/fields.ts'

/** A record of a file. The order of its fields is part of `entryKey`, so each format has the same one. */
export interface CollectionEntry {
  item: ItemDescription
  /** condition or grade, in canonical form if possible; null if the row has none */
  label: string | null
  quantity: number
  purchaseMinor: number | null
  saleMinor: number | null
  purchaseDate: string | null
  cardUniqId: string | null
  note: string | null
  /** absent if none are */
  forTrade?: number
  /** of the amounts, as the file states it; absent if it states none, or lira */
  currency?: string
  /** absent if the row has none */
  certificate?: StoredCertificate
}

/** What an entry states about its copies, if the file has no columns for it. */
export const NO_DETAILS = { purchaseMinor: null, saleMinor: null, purchaseDate: null, cardUniqId: null, note: null }

export interface RowReader {
  /** null for a row of no copy that is owned. @throws BadCell */
  read: (cells: Cells) => CollectionEntry | null
  /** the column of the file that holds a field */
  columnOf?: (field: string) => string | undefined
  /** all columns that it reads, if the file has them */
  reads: readonly string[]
}

export interface CollectionFormat extends RowReader {
  name: string
  /** one line for `--help` and the reference */
  title: string
  /** columns that its files have, and no other format's */
  marks: readonly string[]
  /** those of its newer files, if they have another header */
  newerMarks?: readonly string[]
  /** instead of `marks`, what is checked of a file that is said to be of the format. @throws FeedError */
  checkHeader?: (header: readonly string[]) => void
}

const MAX_CELL_LENGTH = 10_000

/** Whether the header is one of the format's. */
export function hasMarks({ marks, newerMarks = marks }: CollectionFormat, header: readonly string[]): boolean {
  return [marks, newerMarks].some((names) => names.every((name) => header.includes(name)))
}

/** How a file of this format is read. @throws FeedError if its header is of another format */
export function readerOf(format: CollectionFormat, header: readonly string[]): RowReader {
  if (format.checkHeader) format.checkHeader(header)
  else if (!hasMarks(format, header)) requireColumns(header, format.marks)
  return format
}

/**
 * Lines of a CSV; an invalid cell refuses its row. Cells are as they were before an export made formulas harmless.
 * @param readerOfHeader throws a FeedError for a file that cannot be read
 */
export async function* csvEntries(
  source: FeedSource,
  readerOfHeader: (header: readonly string[]) => RowReader,
): AsyncIterable<FileLine<CollectionEntry>[]> {
  let reader: RowReader
  const readCells = (raw: Cells) => {
    const isUnusable = Object.values(raw).some((text) => text.length > MAX_CELL_LENGTH || text.includes('\u0000'))
    if (isUnusable) throw new BadCell(reason('cells', { max: MAX_CELL_LENGTH }))
    return reader.read(Object.fromEntries(Object.entries(raw).map(([column, text]) => [column, unescapeCell(text)])))
  }
  const readHeader = (header: readonly string[]) => {
    reader = readerOfHeader(header)
  }
  for await (const lines of csvRows(source, readHeader)) yield lines.map((line) => readLine(line, readCells))
}

/** An amount as sources print it, in minor units; null for an empty cell. */
export function amountOf(cells: Cells, column: string): number | null {
  const text = cell(cells, column)
  if (text === '') return null
  const minor = parseSourceAmount(text)
  if (minor !== null) return minor
  throw new BadCell(problem(column, 'number', { max: MAX_AMOUNT, value: truncate(text) }))
}

/** A price of an owner's file, in minor units; null for an empty cell. `amountIn` says what is refused, except that a cost may be 0. */
export function costOf(cells: Cells, column: string, of: { currency: string; decimal?: string | undefined }): number | null {
  const text = cell(cells, column)
  if (/^0+(?:[.,]0*)?$/.test(text)) return 0
  const amount = amountIn(text, column, { currency: of.currency, ...(of.decimal !== undefined && { decimal: of.decimal }) })
  if (amount !== null && typeof amount === 'object') throw new BadCell(amount)
  return amount
}

/** Copies for trade, at most those that are owned; nothing if the cell is empty or 0. */
export function forTradeOf(cells: Cells, column: string, quantity: number): { forTrade?: number } {
  const text = cell(cells, column)
  if (text === '' || /^0+$/.test(text)) return {}
  return { forTrade: Math.min(quantityOf(cells, column), quantity) }
}

/** A calendar day, `2026-01-31`, `31.1.2026` or `1/31/2026`, as YYYY-MM-DD; null for an empty cell. */
export function dayOf(cells: Cells, column: string, { americanDays = true }: { americanDays?: boolean } = {}): string | null {
  const text = cell(cells, column)
  if (text === '') return null
  const iso = /^(\d{4})-(\d\d)-(\d\d)(?:[T ].*)?$/.exec(text)
  const american = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(text)
  const dotted = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(text)
  const [year, month, day] =
    iso?.slice(1) ?? dotted?.slice(1).toReversed() ?? (american && americanDays ? [american[3]!, american[1]!, american[2]!] : [])
  const date = new Date(0)
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  // A date such as 30 February would become a day in March; reject it.
  const real = date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day)
  if (!real) throw new BadCell(problem(column, 'date', { value: truncate(text) }))
  if (!isTimeInRange(date.getTime())) throw new BadCell(problem(column, 'date', TIME_RANGE))
  return date.toISOString().slice(0, 10)
}

export function codeOf(column: string, text: string): string | null {
  if (isLine(text) && fitsCharacters(text, MAX_CODE_LENGTH)) return text || null
  throw new BadCell(problem(column, 'text', { max: MAX_CODE_LENGTH, form: 'on one line, without bidirectional controls' }))
}

export function noteOf(column: string, text: string): string | null {
  if (isLines(text) && fitsCharacters(text, MAX_NOTE_LENGTH)) return text || null
  throw new BadCell(problem(column, 'text', { max: MAX_NOTE_LENGTH, form: 'without bidirectional controls' }))
}
