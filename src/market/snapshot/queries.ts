// Queries over the published listings: filters as bitsets kept up to date, text, and pages of any sort with exact totals.
import { RowBits } from '#index/bits.ts'
import { fold } from '#index/fold.ts'
import { TextIndex } from '#index/text.ts'
import { Recent } from '#catalogue/snapshot/recent.ts'
import type { Condition, Test } from './filters.ts'
import type { PublishedTable } from './published.ts'
import { ListingSorts } from './sorts.ts'

export const LISTING_SORTS = ['latest', 'price_low', 'price_high', 'pc_multiplier_asc', 'pc_multiplier_desc', 'popular'] as const
export type ListingSort = (typeof LISTING_SORTS)[number]

const SORTED_BY: Record<ListingSort, 'price' | 'pc' | null> = {
  latest: null,
  price_low: 'price',
  price_high: 'price',
  pc_multiplier_asc: 'pc',
  pc_multiplier_desc: 'pc',
  popular: null,
}

export interface ListingPage {
  rows: Int32Array
  total: number
}

/**
 * What a search has found, before it is sorted: a list of its own, in any order; or bits (all rows for null), of which
 * those from place `first` of the sort asked for on count.
 */
type Found = { rows: Int32Array; total: number } | { bits: RowBits | null; first: number; total: number }

interface View {
  tests: Test[]
  bits: RowBits
}

const KEPT_VIEWS = 64
const KEPT_TEXTS = 512
const NO_ROWS = new Int32Array(0)

export class ListingQueries {
  readonly sorts: ListingSorts
  readonly #table: PublishedTable
  readonly #text = new TextIndex()
  readonly #views = new Recent<View>(KEPT_VIEWS)
  readonly #texts = new Recent<Int32Array>(KEPT_TEXTS)
  readonly #pcCounts = new WeakMap<RowBits, { count: number; version: number; pcVersion: number }>()

  constructor(table: PublishedTable, recentSales: (itemId: number) => number) {
    this.#table = table
    this.sorts = new ListingSorts(table, recentSales)
  }

  /** A page of what meets all conditions and, where there is a text, has every word of it in its title or item's name. */
  page(conditions: Condition[], search: string | undefined, sort: ListingSort, offset: number, limit: number): ListingPage {
    const found = this.#find(conditions, search, sort)
    const count = Math.min(limit, found.total - offset)
    return { rows: count <= 0 ? NO_ROWS : this.#sorted(found, sort, offset, count), total: found.total }
  }

  /** A listing is new, or anything of it beside price, highlight and sales has changed. */
  set(row: number, itemName: string): void {
    this.#text.set(row, { name: this.#table.titleOf(row), code: null, more: [itemName] })
    this.#texts.clear()
    this.sorts.markAll(row)
    this.review(row)
  }

  drop(row: number): void {
    this.#text.remove(row)
    this.#texts.clear()
    this.sorts.drop(row)
    for (const { bits } of this.#views.values()) bits.delete(row)
  }

  /** Something that conditions look at has changed. */
  review(row: number): void {
    for (const { tests, bits } of this.#views.values()) {
      if (tests.every((test) => test(row))) bits.add(row)
      else bits.delete(row)
    }
  }

  /** What conditions mean has changed: categories, grades or sellers' names. */
  forgetViews(): void {
    this.#views.clear()
  }

  #find(conditions: Condition[], search: string | undefined, sort: ListingSort): Found {
    if (search === undefined || fold(search) === '') {
      const range = conditions.find((condition) => condition.range?.by === SORTED_BY[sort])?.range
      if (range) return this.#findRange(conditions.filter((condition) => condition.range !== range), range)
      const bits = this.#viewOf(conditions)
      return { bits, first: 0, total: bits ? bits.size : this.#table.live.size }
    }
    const rows = this.#hits(search).slice()
    let total = rows.length
    for (const { test } of conditions) {
      let kept = 0
      for (let i = 0; i < total; i += 1) if (test(rows[i]!)) rows[kept++] = rows[i]!
      total = kept
    }
    return { rows: rows.subarray(0, total), total }
  }

  /** A range of what is sorted by is a stretch of the order: where it begins and ends is looked up, not collected. */
  #findRange(others: Condition[], { by, from, to }: NonNullable<Condition['range']>): Found {
    const bits = this.#viewOf(others)
    const { first, end } = this.sorts.stretch(by, from, to, bits)
    return { bits, first, total: Math.max(0, end - first) }
  }

  #viewOf(conditions: Condition[]): RowBits | null {
    return conditions.length === 0 ? null : this.#view(conditions)
  }

  #hits(search: string): Int32Array {
    const known = this.#texts.get(search)
    if (known) return known
    const hits = this.#text.filter(search)
    this.#texts.set(search, hits)
    return hits
  }

  #view(conditions: Condition[]): RowBits {
    const key = conditions.map((condition) => condition.key).join('\n')
    const known = this.#views.get(key)
    if (known) return known.bits
    const [first, ...others] = conditions
    const bits = others.length === 0 ? this.#scan(first!) : this.#view([first!]).clone()
    for (const other of others) bits.and(this.#view([other]))
    this.#views.set(key, { tests: conditions.map(({ test }) => test), bits })
    return bits
  }

  #scan({ test, range }: Condition): RowBits {
    const bits = new RowBits(this.#table.id.length)
    if (range) return this.sorts.collect(range.by, range.from, range.to, bits)
    this.#table.live.forEach((row) => {
      if (test(row)) bits.add(row)
    })
    return bits
  }

  #sorted(found: Found, sort: ListingSort, offset: number, count: number): Int32Array {
    switch (sort) {
      case 'latest':
      case 'popular':
        return this.#slice(found, sort, offset, count)
      case 'price_low':
        return this.#slice(found, 'price', offset, count)
      case 'price_high':
        return this.#slice(found, 'price', found.total - offset - count, count).reverse()
      case 'pc_multiplier_asc':
        return this.#slice(found, 'pc', offset, count)
      case 'pc_multiplier_desc':
        return this.#pcDescending(found, offset, count)
    }
  }

  #slice(found: Found, by: 'latest' | 'popular' | 'price' | 'pc', offset: number, count: number): Int32Array {
    const order = this.sorts.order(by)
    return 'bits' in found ? order.slice(found.bits, found.first + offset, count) : order.firstRows(found.rows, offset, count)
  }

  /** Listings without a multiplier are last in both directions, so only those with one are turned round. */
  #pcDescending(found: Found, offset: number, count: number): Int32Array {
    const withPc = this.#withPc(found)
    const turned = Math.max(0, Math.min(count, withPc - offset))
    const rows = new Int32Array(count)
    if (turned > 0) rows.set(this.#slice(found, 'pc', withPc - offset - turned, turned).reverse())
    if (turned < count) rows.set(this.#slice(found, 'pc', Math.max(offset, withPc), count - turned), turned)
    return rows
  }

  #withPc(found: Found): number {
    const { withPc } = this.sorts
    if ('rows' in found) return withPc.countIn(found.rows)
    if (found.bits === null) return Math.min(withPc.size, found.total)
    const known = this.#pcCounts.get(found.bits)
    const { version } = found.bits
    if (known && known.version === version && known.pcVersion === withPc.version) return Math.min(known.count, found.total)
    const count = RowBits.intersection(found.bits, withPc).size
    this.#pcCounts.set(found.bits, { count, version, pcVersion: withPc.version })
    return Math.min(count, found.total)
  }
}
