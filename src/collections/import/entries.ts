// Entries of a collection file: a record whose item is described, but not yet matched to the catalogue.
import type { FeedSource } from '#core/files/feed.ts'
import { csvRows } from '#core/files/feed.ts'
import { MAX_AMOUNT, parseSourceAmount } from '#core/money.ts'
import { problem, reason } from '#core/problems.ts'
import { fitsCharacters, isLine, isLines } from '#core/text.ts'
import { isTimeInRange, TIME_RANGE } from '#core/time.ts'
import { BadCell, cell, type Cells, type FileLine, readLine } from '#intake/cells.ts'
import type { ItemDescription } from '#intake/match-items.ts'
import { truncate } from '#prices/sources/cells.ts'
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
}

/** What an entry states about its copies, if the file has no columns for it. */
export const NO_DETAILS = { purchaseMinor: null, saleMinor: null, purchaseDate: null, cardUniqId: null, note: null }

export interface CollectionFormat {
  name: string
  /** one line for `--help` and the operator's reference */
  title: string
  /** @throws FeedError for a file of another format; an invalid row is refused */
  read: (source: FeedSource) => AsyncIterable<FileLine<CollectionEntry>[]>
}

const MAX_CELL_LENGTH = 10_000

/** Lines of a CSV, each read by `read`; an invalid cell refuses its row. */
export async function* csvEntries(
  source: FeedSource,
  required: readonly string[] | ((header: readonly string[]) => void),
  read: (cells: Cells) => CollectionEntry | null,
): AsyncIterable<FileLine<CollectionEntry>[]> {
  const readCells = (cells: Cells) => {
    const isUnusable = Object.values(cells).some((text) => text.length > MAX_CELL_LENGTH || text.includes('\u0000'))
    if (isUnusable) throw new BadCell(reason('cells', { max: MAX_CELL_LENGTH }))
    return read(cells)
  }
  for await (const lines of csvRows(source, required)) yield lines.map((line) => readLine(line, readCells))
}

/** An amount as sources print it, in minor units; null for an empty cell. */
export function amountOf(cells: Cells, column: string): number | null {
  const text = cell(cells, column)
  if (text === '') return null
  const minor = parseSourceAmount(text)
  if (minor !== null) return minor
  throw new BadCell(problem(column, 'number', { max: MAX_AMOUNT, value: truncate(text) }))
}

/** A calendar day, `2026-01-31` or `1/31/2026`, as YYYY-MM-DD; null for an empty cell. */
export function dayOf(cells: Cells, column: string): string | null {
  const text = cell(cells, column)
  if (text === '') return null
  const iso = /^(\d{4})-(\d\d)-(\d\d)(?:[T ].*)?$/.exec(text)
  const american = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(text)
  const [year, month, day] = iso ? iso.slice(1) : american ? [american[3]!, american[1]!, american[2]!] : []
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
