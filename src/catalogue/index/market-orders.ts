// The sort orders of a field that depends on the displayed market, with its keys as a column.
import { withCapacity } from '#index/columns.ts'
import { SortedRows } from '#index/order.ts'
import type { ItemTable } from './items.ts'
import { compareSortKeys, type SortDirection, type SortValue } from './sort-keys.ts'

export class MarketOrders {
  readonly #items: ItemTable
  readonly #market: number | null
  readonly #keyOf: (row: number) => number
  /** by row; NaN for none */
  #keys = new Float64Array(0)
  readonly #orders = new Map<SortDirection, SortedRows>()

  /**
   * @param market position in MARKETS: the orders contain only items that it selects; null: all items
   * @param keyOf the key of a row from the tables; NaN for none
   */
  constructor(items: ItemTable, market: number | null, keyOf: (row: number) => number) {
    this.#items = items
    this.#market = market
    this.#keyOf = keyOf
    this.#fillKeys(this.#rows())
  }

  order(direction: SortDirection): SortedRows {
    const cached = this.#orders.get(direction)
    if (cached) return cached
    const order = new SortedRows((a, b) => compareSortKeys(this.value(a), this.#items.id[a]!, this.value(b), this.#items.id[b]!, direction))
    order.load(this.#rows(), this.#loadKey(direction))
    this.#orders.set(direction, order)
    return order
  }

  value(row: number): SortValue {
    const key = this.#keys[row]!
    return Number.isNaN(key) ? null : key
  }

  /** Call when an item is new, when its selection has changed, or when any of its data has. */
  mark(row: number): void {
    if (!this.#includes(row)) return this.drop(row)
    this.#keys = withCapacity(this.#keys, row + 1)
    this.#keys[row] = this.#keyOf(row)
    for (const order of this.#orders.values()) order.mark(row)
  }

  /** Call when only the key of an item may have changed. */
  review(row: number): void {
    if (this.#includes(row) && !Object.is(this.#keys[row], this.#keyOf(row))) this.mark(row)
  }

  drop(row: number): void {
    for (const order of this.#orders.values()) order.drop(row)
  }

  /** Call when all keys may have changed. */
  reload(): void {
    const rows = this.#rows()
    this.#fillKeys(rows)
    for (const [direction, order] of this.#orders) order.load(rows, this.#loadKey(direction))
  }

  #includes(row: number): boolean {
    return this.#market === null || this.#items.isSelectedBy(this.#market, row)
  }

  #rows(): Int32Array {
    const rows = this.#items.live.toRows()
    return this.#market === null ? rows : rows.filter((row) => this.#includes(row))
  }

  #fillKeys(rows: Int32Array): void {
    this.#keys = withCapacity(this.#keys, this.#items.rows)
    for (let i = 0; i < rows.length; i += 1) this.#keys[rows[i]!] = this.#keyOf(rows[i]!)
  }

  /** A number per row that preserves the order, but may be equal for different keys. */
  #loadKey(direction: SortDirection): (row: number) => number {
    const sign = direction === 'asc' ? 1 : -1
    return (row) => {
      const key = this.#keys[row]!
      return Number.isNaN(key) ? Number.MAX_VALUE : sign * key
    }
  }
}
