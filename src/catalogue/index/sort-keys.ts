// Sort keys of items and their comparison.
export const SORT_FIELDS = ['name', 'code', 'id', 'price', 'updated_at'] as const
export type SortField = (typeof SORT_FIELDS)[number]
export const SORT_DIRECTIONS = ['asc', 'desc'] as const
export type SortDirection = (typeof SORT_DIRECTIONS)[number]

/** A text's sort key or a number; null is last in both directions. */
export type SortValue = string | number | null

/** A price in its market's currency. Cursors store this instead of a converted amount, because exchange rates change. */
export interface Amount {
  minor: number
  /** position in MARKETS */
  market: number
}

/** A row's sort value as stored in a cursor. */
export type CursorValue = Exclude<SortValue, null> | Amount | null

/** Compares two (value, id) pairs. */
export function compareSortKeys(a: SortValue, idA: number, b: SortValue, idB: number, direction: SortDirection): number {
  if (a !== b) {
    if (a === null) return 1
    if (b === null) return -1
    const order = a < b ? -1 : 1
    return direction === 'asc' ? order : -order
  }
  return idA - idB
}
