// Entries of a collection file: a record whose item is described, but not yet matched to the catalogue.
import type { FeedSource } from '#core/files/feed.ts'
import { csvRows } from '#core/files/feed.ts'
import { MAX_AMOUNT, parseSourceAmount } from '#core/money.ts'
import { type Problem, problem, type Reason, reason } from '#core/problems.ts'
import { fitsCharacters, isLine, isLines } from '#core/text.ts'
import { isTimeInRange, TIME_RANGE } from '#core/time.ts'
import type { ItemKey } from '#prices/records/feed-rows.ts'
import { truncate } from '#prices/sources/cells.ts'
import { MAX_CODE_LENGTH, MAX_NOTE_LENGTH, MAX_QUANTITY } from '../records/fields.ts'

/** How a file describes an item: by its ids, if the file has them, and by the text on the card. */
export interface ItemDescription {
  keys: ItemKey[]
  name: string
  /** collector number as written, null if the row has none */
  number: string | null
  /** name of the set, null if the row has none */
  set: string | null
  /** slug of the game; null if the row does not state it */
  game: string | null
  /** printing as written; null if the row does not state it */
  finish: string | null
}

export interface CollectionEntry {
  line: number
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

/** One line of a file: a record, a rejection with its reason, or a row without copies (of a wish list, for example). */
export type EntryLine = CollectionEntry | { line: number; reject: Reason } | { line: number; none: true }

export interface CollectionFormat {
  name: string
  /** one line for `--help` and the operator's reference */
  title: string
  /** @throws FeedError for a file of another format; an invalid row becomes a rejection */
  read: (source: FeedSource) => AsyncIterable<EntryLine[]>
}

/** Thrown when a cell cannot be read and caught for the whole row: the problem of the cell. */
export class BadCell extends Error {
  readonly why: Problem

  constructor(why: Problem) {
    super()
    this.why = why
  }
}

export type Cells = Readonly<Record<string, string>>

const MAX_CELL_LENGTH = 10_000

/** Lines of a CSV, each read by `read`; an invalid cell rejects its row. */
export async function* csvEntries(
  source: FeedSource,
  required: readonly string[] | ((header: readonly string[]) => void),
  read: (cells: Cells, line: number) => Omit<CollectionEntry, 'line'> | null,
): AsyncIterable<EntryLine[]> {
  for await (const batch of csvRows(source, required)) {
    yield batch.map((row): EntryLine => {
      if ('reject' in row) return row
      const { line } = row
      if (Object.values(row.value).some((text) => text.length > MAX_CELL_LENGTH || text.includes('\u0000'))) {
        return { line, reject: reason('cells', { max: MAX_CELL_LENGTH }) }
      }
      try {
        const entry = read(row.value, line)
        return entry ? { line, ...entry } : { line, none: true }
      } catch (error) {
        if (error instanceof BadCell) return { line, reject: error.why }
        throw error
      }
    })
  }
}

/** The trimmed cell; empty if the file does not have the column. */
export function cell(cells: Cells, column: string): string {
  return (cells[column] ?? '').trim()
}

export function textOrNull(cells: Cells, column: string): string | null {
  return cell(cells, column) || null
}

export function quantityOf(cells: Cells, column: string): number {
  const text = cell(cells, column)
  const quantity = Number(text)
  if (/^\d{1,9}$/.test(text) && quantity >= 1 && quantity <= MAX_QUANTITY) return quantity
  throw new BadCell(problem(column, 'integer', { min: 1, max: MAX_QUANTITY, value: truncate(text) }))
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

/** The slug of a game as sources name it: `Pokemon` → `pokemon`, `One Piece Card Game` → `onepiece`. */
export function gameOf(name: string): string | null {
  return (
    name
      .toLowerCase()
      .replace(/\b(card game|tcg|cards?)\b/g, '')
      .replace(/é/g, 'e')
      .replace(/[^a-z0-9]+/g, '') || null
  )
}
