// Keyset pagination cursors, opaque to clients: they record where a page ended, so pages stay consistent while rows are added and
// removed.
import { readCursor, writeCursor } from '#core/cursor.ts'
import { invalid } from '#core/errors.ts'
import { isMarket, type Market, MARKETS } from '#core/markets.ts'
import { RANKS } from '#index/text.ts'
import type { After, AfterMatch } from './snapshot/queries.ts'
import { type Amount, type CursorValue, SORT_FIELDS, type SortDirection, type SortField } from './index/sort-keys.ts'

/** The order of a search without a sort. */
const RELEVANCE = 'relevance'

/** Returns the cursor after an item: its sort value in this list, and its id. */
export function itemCursor(field: SortField, direction: SortDirection, value: CursorValue, id: number): string {
  return writeCursor(['items', field, direction, isAmount(value) ? [value.minor, MARKETS[value.market]] : value, id])
}

/**
 * Reads a cursor of `itemCursor` for the same sort.
 * @param market the market whose prices sort the list; undefined if several markets do
 * @throws VALIDATION_ERROR naming `after` for an unreadable cursor, or one of another sort or list
 */
export function readItemCursor(cursor: string, field: SortField, direction: SortDirection, market?: Market): After {
  const parts = decode(cursor)
  const [list, cursorField, cursorDirection, value, id] = parts
  const expected = { values: `${field} ${direction}` }
  if (list === 'items' && cursorField === RELEVANCE && isMatch(value)) throw invalid('after', 'cursor', expected)
  const isReadable = parts.length === 5 && list === 'items' && isSortField(cursorField) && isCursorValue(value, cursorField) && isId(id)
  if (!isReadable) throw unreadable()
  if (cursorField !== field || cursorDirection !== direction) throw invalid('after', 'cursor', expected)
  if (!Array.isArray(value)) return { value, id }
  const [minor, of] = value
  if (market !== undefined && of !== market) throw invalid('after', 'cursor', { market })
  return { value: { minor, market: MARKETS.indexOf(of) }, id }
}

/** Returns the cursor after an item of a search sorted by relevance: its rank, its name's sort key and its id. */
export function matchCursor({ rank, name, id }: AfterMatch): string {
  return writeCursor(['items', RELEVANCE, 'asc', [rank, name], id])
}

/**
 * Reads a cursor of `matchCursor`.
 * @throws VALIDATION_ERROR naming `after` for an unreadable cursor, or one of another sort or list
 */
export function readMatchCursor(cursor: string): AfterMatch {
  const [list, field, , value, id, ...rest] = decode(cursor)
  if (list !== 'items' || !isId(id) || rest.length > 0) throw unreadable()
  if (isSortField(field) && isCursorValue(value, field)) throw invalid('after', 'cursor', { values: RELEVANCE })
  if (field !== RELEVANCE || !isMatch(value)) throw unreadable()
  return { rank: value[0], name: value[1], id }
}

/** Returns the cursor after a category; categories are ordered by id. */
export function categoryCursor(id: number): string {
  return writeCursor(['categories', id])
}

/** @throws VALIDATION_ERROR naming `after` if the text is not a cursor of `categoryCursor` */
export function readCategoryCursor(cursor: string): number {
  const [list, id, ...rest] = decode(cursor)
  if (list !== 'categories' || !isId(id) || rest.length > 0) throw unreadable()
  return id
}

function decode(cursor: string): unknown[] {
  const parts = readCursor(cursor)
  if (!parts) throw unreadable()
  return parts
}

function isSortField(field: unknown): field is SortField {
  return (SORT_FIELDS as readonly unknown[]).includes(field)
}

function isAmount(value: CursorValue): value is Amount {
  return typeof value === 'object' && value !== null
}

/** A sort value in a cursor; a price is an amount with its market. */
function isCursorValue(value: unknown, field: SortField): value is string | number | [minor: number, market: Market] | null {
  if (value === null) return field === 'code' || field === 'price'
  if (field === 'price') return Array.isArray(value) && value.length === 2 && Number.isSafeInteger(value[0]) && isMarket(value[1])
  return typeof value === (field === 'name' || field === 'code' ? 'string' : 'number')
}

function isMatch(value: unknown): value is [rank: number, name: string] {
  if (!Array.isArray(value) || value.length !== 2 || typeof value[1] !== 'string') return false
  return Number.isSafeInteger(value[0]) && value[0] >= 0 && value[0] < RANKS
}

function isId(id: unknown): id is number {
  return Number.isSafeInteger(id)
}

function unreadable(): Error {
  return invalid('after', 'cursor')
}
