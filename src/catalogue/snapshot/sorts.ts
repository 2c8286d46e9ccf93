// The sort orders of the item list, each direction a kept order of its own, so that what has no key is last in both and
// ties go by id in both.
import type { Compare } from '#index/order.ts'
import { KeptOrder } from '#index/order.ts'
import type { ItemTable } from './items.ts'

export const SORT_FIELDS = ['name', 'code', 'id', 'price', 'updated_at'] as const
export type SortField = (typeof SORT_FIELDS)[number]
export const SORT_DIRECTIONS = ['asc', 'desc'] as const
export type SortDirection = (typeof SORT_DIRECTIONS)[number]

/** What a row is sorted by: a text's sort key or a number; null is last in both directions. */
export type SortValue = string | number | null

/** The value of a row under a sort field. */
export function sortValue(items: ItemTable, field: SortField, row: number): SortValue {
  switch (field) {
    case 'name':
      return items.names.keys[items.name[row]!]!
    case 'code':
      return items.code[row]! < 0 ? null : items.codes.keys[items.code[row]!]!
    case 'id':
      return items.id[row]!
    case 'price':
      return Number.isNaN(items.sortPrice[row]!) ? null : items.sortPrice[row]!
    case 'updated_at':
      return items.changedAtMs[row]!
  }
}

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

/** Kept orders by field and direction, each built when first asked for. */
export class ItemSorts {
  readonly #items: ItemTable
  readonly #orders: Record<SortDirection, Map<SortField, KeptOrder>> = { asc: new Map(), desc: new Map() }

  constructor(items: ItemTable) {
    this.#items = items
  }

  order(field: SortField, direction: SortDirection): KeptOrder {
    const known = this.#orders[direction].get(field)
    if (known) return known
    const order = new KeptOrder(comparer(this.#items, field, direction))
    order.load(this.#items.live.toRows(), loadKey(this.#items, field, direction))
    this.#orders[direction].set(field, order)
    return order
  }

  /** An item is new or anything of it has changed. */
  mark(row: number): void {
    this.#each((order) => order.mark(row))
  }

  /** Only prices of an item have changed. */
  markPrices(row: number): void {
    for (const direction of SORT_DIRECTIONS) {
      this.#orders[direction].get('price')?.mark(row)
      this.#orders[direction].get('updated_at')?.mark(row)
    }
  }

  drop(row: number): void {
    this.#each((order) => order.drop(row))
  }

  #each(visit: (order: KeptOrder) => void): void {
    for (const direction of SORT_DIRECTIONS) for (const order of this.#orders[direction].values()) visit(order)
  }
}

function comparer(items: ItemTable, field: SortField, direction: SortDirection): Compare {
  const sign = direction === 'asc' ? 1 : -1
  switch (field) {
    case 'name':
      return (a, b) => sign * items.names.compare(items.name[a]!, items.name[b]!) || items.id[a]! - items.id[b]!
    case 'id':
      return (a, b) => sign * (items.id[a]! - items.id[b]!)
    default:
      return (a, b) =>
        compareSortKeys(sortValue(items, field, a), items.id[a]!, sortValue(items, field, b), items.id[b]!, direction)
  }
}

/** A number per row that agrees with the comparer and makes the first sort fast. */
function loadKey(items: ItemTable, field: SortField, direction: SortDirection): (row: number) => number {
  const sign = direction === 'asc' ? 1 : -1
  switch (field) {
    case 'name': {
      const ranks = items.names.ranks()
      return (row) => sign * ranks[items.name[row]!]!
    }
    case 'code': {
      const ranks = items.codes.ranks()
      return (row) => (items.code[row]! < 0 ? Number.MAX_SAFE_INTEGER : sign * ranks[items.code[row]!]!)
    }
    case 'id':
      return (row) => sign * items.id[row]!
    case 'price':
      return (row) => (Number.isNaN(items.sortPrice[row]!) ? Number.MAX_SAFE_INTEGER : sign * items.sortPrice[row]!)
    case 'updated_at':
      return (row) => sign * items.changedAtMs[row]!
  }
}
