// Lines of a CSV file and their cells, as all formats of users' files read them.
import { GAMES } from '#games/games.ts'
import type { FeedLine } from '#core/files/feed.ts'
import { type Problem, problem, type Reason } from '#core/problems.ts'
import { truncate } from '#prices/sources/cells.ts'

export type Cells = Readonly<Record<string, string>>

/** A line of a file: its content, or why it is refused; null if it has nothing to import, such as a row of a wish list. */
export type FileLine<T> = { line: number; fields: T } | { line: number; refused: Reason | Problem | null }

/** Maximum copies of one row. */
export const MAX_QUANTITY = 100_000

/** Thrown when a cell cannot be read and caught for the whole row: the problem of the cell. */
export class BadCell extends Error {
  readonly why: Reason | Problem

  constructor(why: Reason | Problem) {
    super()
    this.why = why
  }
}

/** Reads a line; a `BadCell` refuses it. @param read returns null for a line without anything to import */
export function readLine<T>(row: FeedLine<Cells>, read: (cells: Cells) => T | null): FileLine<T> {
  const { line } = row
  if ('reject' in row) return { line, refused: row.reject }
  try {
    const fields = read(row.value)
    return fields === null ? { line, refused: null } : { line, fields }
  } catch (error) {
    if (error instanceof BadCell) return { line, refused: error.why }
    throw error
  }
}

/** The trimmed cell; empty if the file does not have the column. */
export function cell(cells: Cells, column: string): string {
  return (cells[column] ?? '').trim()
}

/** The trimmed cell; null if it is empty. */
export function textOrNull(cells: Cells, column: string): string | null {
  return cell(cells, column) || null
}

/** @throws BadCell unless the cell is a number of copies */
export function quantityOf(cells: Cells, column: string): number {
  const text = cell(cells, column)
  const quantity = Number(text)
  if (/^\d{1,9}$/.test(text) && quantity >= 1 && quantity <= MAX_QUANTITY) return quantity
  throw new BadCell(problem(column, 'integer', { min: 1, max: MAX_QUANTITY, value: truncate(text) }))
}

/** The slug of a game as sources name it: `Pokemon` → `pokemon`, `One Piece Card Game` → `onepiece`. */
export function gameOf(name: string): string | null {
  const slug = slugOf(name)
  return SLUGS.get(slug) ?? (slug || null)
}

function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/\b(card game|tcg|cards?)\b/g, '')
    .replace(/é/g, 'e')
    .replace(/[^a-z0-9]+/g, '')
}

const SLUGS = new Map(GAMES.all.flatMap(({ slug, names }) => names.map((name) => [slugOf(name), slug])))
