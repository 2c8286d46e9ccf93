// Sort orders of published listings, built on first use; ties are sorted by id.
import { RowBits } from '#index/bits.ts'
import { type Compare, firstPast, SortedRows } from '#index/order.ts'
import type { ColumnStore } from '#index/stored.ts'
import type { PublishedTable } from './published.ts'

const SORT_KINDS = ['latest', 'popular', 'price', 'pc'] as const
export type SortKind = (typeof SORT_KINDS)[number]

export class ListingSorts {
  /** rows with a pc multiplier */
  readonly withPc = new RowBits()
  readonly #table: PublishedTable
  readonly #recentSales: (itemId: number) => number
  readonly #orders = new Map<SortKind, SortedRows>()
  readonly #changes: Record<SortKind, number> = { latest: 0, popular: 0, price: 0, pc: 0 }

  constructor(table: PublishedTable, recentSales: (itemId: number) => number) {
    this.#table = table
    this.#recentSales = recentSales
  }

  /** Only the orders built at start; the others are built on first use. */
  store(columns: ColumnStore): void {
    this.withPc.store(columns)
    for (const by of ['latest', 'popular'] as const) {
      if (columns.reading) this.#orders.set(by, new SortedRows(this.#comparer(by)))
      this.order(by).store(columns)
    }
  }

  order(by: SortKind): SortedRows {
    const cached = this.#orders.get(by)
    if (cached) return cached
    const order = new SortedRows(this.#comparer(by))
    order.load(this.#table.live.toRows(), this.#loadKey(by))
    this.#orders.set(by, order)
    return order
  }

  /** Adds the rows with a price or multiplier between the bounds, both included. */
  collect(by: 'price' | 'pc', from: number, to: number, into: RowBits): RowBits {
    return this.order(by).collectRange(this.#probe(by, from), this.#probe(by, to), into)
  }

  /** Start and end position, among the rows of the filter, of those with a price or multiplier between the bounds. */
  rangeOf(by: 'price' | 'pc', from: number, to: number, filter: RowBits | null): { first: number; end: number } {
    const order = this.order(by)
    return { first: order.rank(filter, this.#probe(by, from), false), end: order.rank(filter, this.#probe(by, to), true) }
  }

  /** The part of the sorted rows whose price or multiplier is between the bounds. */
  within(rows: Int32Array, { by, from, to }: { by: 'price' | 'pc'; from: number; to: number }): Int32Array {
    const first = firstPast(rows, rows.length, this.#probe(by, from), true)
    return rows.subarray(first, Math.max(first, firstPast(rows, rows.length, this.#probe(by, to), false)))
  }

  /** Repairs the orders during a large batch of changes, so that no search has to repair everything at once. */
  settle(): void {
    for (const order of this.#orders.values()) order.settle()
  }

  #probe(by: 'price' | 'pc', bound: number): (row: number) => number {
    const table = this.#table
    // Rows without a multiplier sort after every bound.
    return (row) => {
      const value = by === 'price' ? table.kurus[row]! : table.pcHundredths(row)
      return value < bound ? -1 : value === bound ? 0 : 1
    }
  }

  /** Increases whenever the position of a row in an order may have changed. */
  changesOf(by: SortKind): number {
    return this.#changes[by]
  }

  markAll(row: number): void {
    for (const by of SORT_KINDS) this.mark(by, row)
  }

  mark(by: SortKind, row: number): void {
    this.#changes[by] += 1
    this.#orders.get(by)?.mark(row)
  }

  drop(row: number): void {
    this.withPc.delete(row)
    for (const order of this.#orders.values()) order.drop(row)
  }

  #comparer(by: SortKind): Compare {
    const table = this.#table
    const newest: Compare = (a, b) => table.publishedMs[b]! - table.publishedMs[a]! || table.id[b]! - table.id[a]!
    switch (by) {
      case 'latest':
        return newest
      case 'popular':
        return (a, b) => this.#popularity(b) - this.#popularity(a) || newest(a, b)
      case 'price':
        return (a, b) => table.kurus[a]! - table.kurus[b]! || table.id[a]! - table.id[b]!
      case 'pc':
        return (a, b) => this.#pcKey(a) - this.#pcKey(b) || table.id[a]! - table.id[b]!
    }
  }

  /** Returns a number for each row, in the same order as the comparer; speeds up the initial sort. */
  #loadKey(by: SortKind): (row: number) => number {
    const table = this.#table
    switch (by) {
      case 'latest':
        return (row) => -table.publishedMs[row]!
      case 'popular': {
        const place = new Int32Array(table.id.length)
        const latest = this.order('latest').slice(null, 0, table.live.size)
        for (let i = 0; i < latest.length; i += 1) place[latest[i]!] = i
        return (row) => place[row]! - this.#popularity(row) * table.id.length
      }
      case 'price':
        return (row) => table.kurus[row]!
      case 'pc':
        return (row) => this.#pcKey(row)
    }
  }

  /** Highlighted listings first, then by the item's sales in the last 30 days. */
  #popularity(row: number): number {
    const sales = this.#recentSales(this.#table.itemId[row]!)
    return this.#table.highlightedMs.has(row) ? sales + HIGHLIGHT : sales
  }

  #pcKey(row: number): number {
    const pc = this.#table.pcHundredths(row)
    return Number.isNaN(pc) ? Number.MAX_SAFE_INTEGER : pc
  }
}

/** More than the sales of any item in 30 days; the product with the number of rows is still exact. */
const HIGHLIGHT = 2 ** 26
