// Queries of published listings: incrementally updated filter bitsets, text search, and pages of any sort with exact totals.
import { Cache } from '#core/cache.ts'
import { RowBits } from '#index/bits.ts'
import { fold } from '#index/fold.ts'
import type { Utf8 } from '#index/utf8.ts'
import type { Condition, Test } from './filters.ts'
import type { PublishedTable } from './published.ts'
import { type SortKind, ListingSorts } from './sorts.ts'
import { ListingTexts } from './texts.ts'

export const LISTING_SORTS = ['latest', 'price_low', 'price_high', 'pc_multiplier_asc', 'pc_multiplier_desc', 'popular'] as const
export type ListingSort = (typeof LISTING_SORTS)[number]

const SORTED_BY: Record<ListingSort, SortKind> = {
  latest: 'latest',
  price_low: 'price',
  price_high: 'price',
  pc_multiplier_asc: 'pc',
  pc_multiplier_desc: 'pc',
  popular: 'popular',
}

export interface ListingPage {
  rows: Int32Array
  total: number
  /** increases whenever the page may have other listings, or in another order */
  listVersion: () => number
}

/**
 * The result of a search: either a list of rows, sorted or not; or a bitset (null for all rows), of which the page starts at position `first` of the
 * sort order.
 */
type SearchResult = { rows: Int32Array; sorted: boolean; total: number } | { bits: RowBits | null; first: number; total: number }

interface View {
  tests: Test[]
  /** whether it depends on multipliers */
  ofPc: boolean
  bits: RowBits
}

/** Sorted results of a text search under some conditions; `rows` is null until the search is repeated. */
interface Ordered {
  rows: Int32Array | null
  version: number
}

const CACHED_VIEWS = 64
/** Maximum rows in all cached text results, and in all cached sorted results: 12 MB each. Each entry adds `ENTRY_ROWS`. */
const CACHED_ROWS = 3_000_000
const ENTRY_ROWS = 64
const WITH_PC = { by: 'pc', from: -Infinity, to: Infinity } as const
const NO_ROWS = new Int32Array(0)

export class ListingQueries {
  readonly sorts: ListingSorts
  readonly #table: PublishedTable
  readonly texts: ListingTexts
  readonly #views = new Cache<string, View>({ limit: CACHED_VIEWS })
  readonly #hits: Cache<string, Int32Array>
  readonly #ordered: Cache<string, Ordered>
  /** increase with every change of what a search may find: of multipliers, and all others except those that the sort orders count themselves */
  #pcChanges = 0
  #otherChanges = 0
  readonly #pcCounts = new WeakMap<RowBits, { count: number; version: number; pcVersion: number }>()

  /** @param cachedRows maximum cached rows of each kind of results; 0 disables caching */
  constructor(table: PublishedTable, recentSales: (itemId: number) => number, cachedRows = CACHED_ROWS) {
    this.#hits = new Cache({ limit: cachedRows, weigh: (rows) => rows.length + ENTRY_ROWS })
    this.#ordered = new Cache({ limit: cachedRows, weigh: ({ rows }) => (rows?.length ?? 0) + ENTRY_ROWS })
    this.#table = table
    this.sorts = new ListingSorts(table, recentSales)
    this.texts = new ListingTexts(table)
  }

  /** A page of the listings that meet all conditions and, with a search text, have all its words in the title or the item's name. */
  page(conditions: Condition[], search: string | undefined, sort: ListingSort, offset: number, limit: number): ListingPage {
    const found = this.#find(conditions, search, sort)
    const count = Math.min(limit, found.total - offset)
    const rows = count <= 0 ? NO_ROWS : this.#sorted(found, sort, offset, count)
    return { rows, total: found.total, listVersion: () => this.#versionOf(conditions, SORTED_BY[sort]) }
  }

  /** @returns whether the title has changed */
  setTitle(row: number, title: Utf8): boolean {
    if (!this.texts.setTitle(row, title)) return false
    this.#hits.clear()
    return true
  }

  nameItem(itemId: number, name: string): void {
    if (this.texts.nameItem(itemId, name)) this.#hits.clear()
  }

  /** Call when a listing is new, or has a new item or period. */
  move(row: number): void {
    this.#hits.clear()
    this.sorts.markAll(row)
  }

  drop(row: number): void {
    this.texts.setTitle(row, null)
    this.#hits.clear()
    this.#otherChanges += 1
    this.sorts.drop(row)
    for (const [, { bits }] of this.#views.entries()) bits.delete(row)
  }

  /** Call when a value that conditions test has changed. */
  review(row: number): void {
    this.#otherChanges += 1
    this.reviewPc(row, false)
  }

  /** Call when the multiplier of a listing has changed. */
  reviewPc(row: number, alone = true): void {
    this.#pcChanges += 1
    for (const [, { tests, ofPc, bits }] of this.#views.entries()) {
      if (alone && !ofPc) continue
      if (tests.every((test) => test(row))) bits.add(row)
      else bits.delete(row)
    }
  }

  /** Call when the meaning of conditions has changed: categories, grades or sellers' names. */
  forgetViews(): void {
    this.#otherChanges += 1
    this.#views.clear()
  }

  #find(conditions: Condition[], search: string | undefined, sort: ListingSort): SearchResult {
    const by = SORTED_BY[sort]
    const range = conditions.find((condition) => condition.range?.by === by)?.range
    const others = range ? conditions.filter((condition) => condition.range !== range) : conditions
    if (search !== undefined && fold(search) !== '') return this.#findText(search, conditions, others, range, by)
    if (range) return this.#findRange(others, range)
    const bits = this.#viewOf(conditions)
    return { bits, first: 0, total: bits ? bits.size : this.#table.live.size }
  }

  /** Caches a repeated search in sorted order, so that its further pages and ranges need no new search. */
  #findText(search: string, conditions: Condition[], others: Condition[], range: Condition['range'], by: SortKind): SearchResult {
    const key = [by, search, ...others.map((condition) => condition.key)].join('\n')
    const version = this.#versionOf(others, by)
    const cached = this.#ordered.get(key)
    if (cached?.version !== version) {
      this.#ordered.set(key, { rows: null, version })
      const rows = this.#search(search, conditions)
      return { rows, sorted: false, total: rows.length }
    }
    const all = cached.rows ?? this.sorts.order(by).sortRows(this.#search(search, others))
    if (!cached.rows) this.#ordered.set(key, { rows: all, version })
    const rows = range ? this.sorts.within(all, range) : all
    return { rows, sorted: true, total: rows.length }
  }

  /** Increases whenever a search under the conditions may find other rows, or in another order. */
  #versionOf(conditions: readonly Condition[], by: SortKind): number {
    return this.#otherChanges + this.sorts.changesOf(by) + (conditions.some(isOfPc) ? this.#pcChanges : 0)
  }

  #search(search: string, conditions: Condition[]): Int32Array {
    const rows = this.#hitsOf(search).slice()
    let total = rows.length
    for (const { test } of conditions) {
      let matching = 0
      for (let i = 0; i < total; i += 1) {
        const row = rows[i]!
        if (test(row)) rows[matching++] = row
      }
      total = matching
    }
    return rows.slice(0, total)
  }

  /** A range of the sort key is a contiguous part of the sort order: only its two ends are looked up. */
  #findRange(others: Condition[], { by, from, to }: NonNullable<Condition['range']>): SearchResult {
    const bits = this.#viewOf(others)
    const { first, end } = this.sorts.rangeOf(by, from, to, bits)
    return { bits, first, total: Math.max(0, end - first) }
  }

  #viewOf(conditions: Condition[]): RowBits | null {
    return conditions.length === 0 ? null : this.#view(conditions)
  }

  #hitsOf(search: string): Int32Array {
    const cached = this.#hits.get(search)
    if (cached) return cached
    const hits = this.texts.find(search)
    this.#hits.set(search, hits)
    return hits
  }

  #view(conditions: Condition[]): RowBits {
    const key = conditions.map((condition) => condition.key).join('\n')
    const cached = this.#views.get(key)
    if (cached) return cached.bits
    const [first, ...others] = conditions
    const bits = others.length === 0 ? this.#scan(first!) : this.#view([first!]).clone()
    for (const other of others) bits.and(this.#view([other]))
    this.#views.set(key, { tests: conditions.map(({ test }) => test), ofPc: conditions.some(isOfPc), bits })
    return bits
  }

  #scan({ test, range, rows }: Condition): RowBits {
    const bits = new RowBits(this.#table.id.length)
    if (rows) {
      for (const row of rows()) bits.add(row)
      return bits
    }
    if (range) return this.sorts.collect(range.by, range.from, range.to, bits)
    this.#table.live.forEach((row) => {
      if (test(row)) bits.add(row)
    })
    return bits
  }

  #sorted(found: SearchResult, sort: ListingSort, offset: number, count: number): Int32Array {
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

  #slice(found: SearchResult, by: SortKind, offset: number, count: number): Int32Array {
    const order = this.sorts.order(by)
    if ('bits' in found) return order.slice(found.bits, found.first + offset, count)
    return found.sorted ? found.rows.slice(offset, offset + count) : order.firstRows(found.rows, offset, count)
  }

  /** Listings without a multiplier are last in both directions, so only those with one are reversed. */
  #pcDescending(found: SearchResult, offset: number, count: number): Int32Array {
    const withPc = this.#withPc(found)
    const turned = Math.max(0, Math.min(count, withPc - offset))
    const rows = new Int32Array(count)
    if (turned > 0) rows.set(this.#slice(found, 'pc', withPc - offset - turned, turned).reverse())
    if (turned < count) rows.set(this.#slice(found, 'pc', Math.max(offset, withPc), count - turned), turned)
    return rows
  }

  #withPc(found: SearchResult): number {
    const { withPc } = this.sorts
    if ('rows' in found) return found.sorted ? this.sorts.within(found.rows, WITH_PC).length : withPc.countIn(found.rows)
    if (found.bits === null) return Math.min(withPc.size, found.total)
    const cached = this.#pcCounts.get(found.bits)
    const { version } = found.bits
    if (cached && cached.version === version && cached.pcVersion === withPc.version) return Math.min(cached.count, found.total)
    const count = RowBits.intersection(found.bits, withPc).size
    this.#pcCounts.set(found.bits, { count, version, pcVersion: withPc.version })
    return Math.min(count, found.total)
  }
}

function isOfPc({ range }: Condition): boolean {
  return range?.by === 'pc'
}
