// What items can be sorted by, and how two keys compare.
export const SORT_FIELDS = ['name', 'code', 'id', 'price', 'updated_at'] as const
export type SortField = (typeof SORT_FIELDS)[number]
export const SORT_DIRECTIONS = ['asc', 'desc'] as const
export type SortDirection = (typeof SORT_DIRECTIONS)[number]

/** What a row is sorted by: a text's sort key or a number; null is last in both directions. */
export type SortValue = string | number | null

/** A price in the currency of its market: a cursor keeps that, since rates change. */
export interface Amount {
  minor: number
  /** position in MARKETS */
  market: number
}

/** What a cursor keeps of a row's sort value. */
export type CursorValue = Exclude<SortValue, null> | Amount | null

/** Order of two (value, id) pairs. */
export function compareSortKeys(a: SortValue, idA: number, b: SortValue, idB: number, direction: SortDirection): number {
  if (a !== b) {
    if (a === null) return 1
    if (b === null) return -1
    const order = a < b ? -1 : 1
    return direction === 'asc' ? order : -order
  }
  return idA - idB
}
