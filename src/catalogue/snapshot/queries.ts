// Queries over the items in memory: filters as bitsets kept up to date, text search, pages at any depth with exact totals.
import { MARKETS, type Market } from '#core/markets.ts'
import { RowBits } from '#index/bits.ts'
import { TextIndex, TIERS } from '#index/text.ts'
import { GENRES } from '../records.ts'
import type { CategoryTree } from './category-tree.ts'
import type { ItemTable } from './items.ts'
import { Recent } from './recent.ts'
import { compareSortKeys, ItemSorts, type SortDirection, type SortField, type SortValue, sortValue } from './sorts.ts'

export interface ItemFilter {
  market?: Market | undefined
  game?: string | undefined
  genre?: string | undefined
  /** with everything below it */
  categoryId?: number | undefined
  /** words that name, code or category name must have; blank is none */
  search?: string | undefined
}

/** Rows of a page in order, and how many there are over all pages. */
export interface RowPage {
  rows: Int32Array
  total: number
}

/** Where a keyset page begins: after the row that had this value and id. */
export interface After {
  value: SortValue
  id: number
}

interface View {
  matches: (row: number) => boolean
  bits: RowBits
  /** version of the category tree it was made with, -1 where it does not depend on it */
  treeVersion: number
}

/** A ranked search: rows by tier, each tier sorted by name when a page of it is first asked for. */
interface Ranked {
  tiers: { rows: Int32Array; sorted: boolean }[]
  total: number
}

const KEPT_VIEWS = 256
const KEPT_SEARCHES = 2_048
/** A tier larger than this is not sorted whole for one page of it. */
const SORT_WHOLE = 4_096
const TIER_COUNT = Object.keys(TIERS).length
const SEARCH_LENGTH = 200

export class ItemQueries {
  readonly text = new TextIndex()
  readonly sorts: ItemSorts
  readonly #items: ItemTable
  readonly #categories: CategoryTree
  readonly #views = new Recent<View>(KEPT_VIEWS)
  readonly #found = new Recent<RowBits>(KEPT_SEARCHES)
  readonly #ranked = new Recent<Ranked>(KEPT_SEARCHES)

  constructor(items: ItemTable, categories: CategoryTree) {
    this.#items = items
    this.#categories = categories
    this.sorts = new ItemSorts(items)
  }

  /** A page of the filtered list. */
  page(filter: ItemFilter, field: SortField, direction: SortDirection, offset: number, limit: number): RowPage {
    const bits = this.#bits(filter)
    const rows = this.sorts.order(field, direction).slice(bits, offset, limit)
    return { rows, total: bits ? bits.size : this.#items.live.size }
  }

  /** A page by cursor: right also while items come and go. */
  pageAfter(
    filter: ItemFilter,
    field: SortField,
    direction: SortDirection,
    after: After | null,
    limit: number,
  ): { rows: Int32Array; more: boolean } {
    const items = this.#items
    const order = this.sorts.order(field, direction)
    if (!after) {
      const rows = order.slice(this.#bits(filter), 0, limit + 1)
      return { rows: rows.subarray(0, limit), more: rows.length > limit }
    }
    const probe = (row: number) => compareSortKeys(sortValue(items, field, row), items.id[row]!, after.value, after.id, direction)
    return order.sliceAfter(probe, this.#bits(filter), limit)
  }

  /** A page of the ranked search: best tier first, then by name and id. */
  search(q: string, filter: Omit<ItemFilter, 'search'>, offset: number, limit: number): RowPage {
    const query = q.slice(0, SEARCH_LENGTH)
    const key = this.#searchKey(filter, query)
    let ranked = this.#ranked.get(key)
    if (!ranked) {
      ranked = this.#rank(query, this.#view(filter))
      this.#ranked.set(key, ranked)
    }
    return { rows: this.#rankedRows(ranked, offset, limit), total: ranked.total }
  }

  /** An item is new or changed: `doc` is what is searched of it. */
  set(row: number, doc: Parameters<TextIndex['set']>[1]): void {
    this.text.set(row, doc)
    this.sorts.mark(row)
    this.#forgetSearches()
    for (const view of this.#views.values()) {
      if (view.matches(row)) view.bits.add(row)
      else view.bits.delete(row)
    }
  }

  drop(row: number): void {
    this.text.remove(row)
    this.sorts.drop(row)
    this.#forgetSearches()
    for (const view of this.#views.values()) view.bits.delete(row)
  }

  #forgetSearches(): void {
    this.#found.clear()
    this.#ranked.clear()
  }

  #bits(filter: ItemFilter): RowBits | null {
    const view = this.#view(filter)
    const query = filter.search?.slice(0, SEARCH_LENGTH).trim()
    if (!query) return view
    const key = this.#searchKey(filter, query)
    const known = this.#found.get(key)
    if (known) return known
    const found = RowBits.of(this.text.filter(query))
    if (view) found.and(view)
    this.#found.set(key, found)
    return found
  }

  /** What was found below a category holds for the tree as it was. */
  #searchKey(filter: ItemFilter, query: string): string {
    const tree = filter.categoryId === undefined ? '' : this.#categories.version
    return `${tree}\t${keyOf(filter)}\t${query}`
  }

  /** Rows of a filter without its text, null for all. */
  #view(filter: ItemFilter): RowBits | null {
    const key = keyOf(filter)
    if (key === NO_FILTER) return null
    const known = this.#views.get(key)
    if (known && (known.treeVersion < 0 || known.treeVersion === this.#categories.version)) return known.bits
    const matches = this.#matcher(filter)
    const bits = new RowBits(this.#items.rows)
    const { live, categoryRows } = this.#items
    if (filter.categoryId === undefined) {
      live.forEach((row) => {
        if (matches(row)) bits.add(row)
      })
    } else {
      categoryRows.forEach(this.#categories.subtree(filter.categoryId), (row) => {
        if (live.has(row) && matches(row)) bits.add(row)
      })
    }
    this.#views.set(key, { matches, bits, treeVersion: filter.categoryId === undefined ? -1 : this.#categories.version })
    return bits
  }

  #matcher({ market, game, genre, categoryId }: ItemFilter): (row: number) => boolean {
    const items = this.#items
    const marketNumber = market === undefined ? -1 : MARKETS.indexOf(market)
    const genreNumber = genre === undefined ? -1 : GENRES.indexOf(genre as (typeof GENRES)[number])
    const below = categoryId === undefined ? null : this.#categories.subtree(categoryId)
    return (row) =>
      (marketNumber < 0 || items.market[row] === marketNumber) &&
      (genreNumber < 0 || items.genre[row] === genreNumber) &&
      (game === undefined || items.gameOf(row) === game) &&
      (below === null || below.has(items.categoryId[row]!))
  }

  #rank(query: string, view: RowBits | null): Ranked {
    const { rows, tiers } = this.text.ranked(query)
    const counts = new Int32Array(TIER_COUNT)
    for (let i = 0; i < rows.length; i += 1) if (!view || view.has(rows[i]!)) counts[tiers[i]!]! += 1
    const byTier = Array.from(counts, (count) => new Int32Array(count))
    counts.fill(0)
    let total = 0
    for (let i = 0; i < rows.length; i += 1) {
      if (view && !view.has(rows[i]!)) continue
      const tier = tiers[i]!
      byTier[tier]![counts[tier]!] = rows[i]!
      counts[tier]! += 1
      total += 1
    }
    return { tiers: byTier.filter((tier) => tier.length > 0).map((tier) => ({ rows: tier, sorted: false })), total }
  }

  #rankedRows(ranked: Ranked, offset: number, limit: number): Int32Array {
    const order = this.sorts.order('name', 'asc')
    const page = new Int32Array(Math.max(0, Math.min(limit, ranked.total - offset)))
    let filled = 0
    let skip = offset
    for (const tier of ranked.tiers) {
      if (filled === page.length) break
      if (skip >= tier.rows.length) {
        skip -= tier.rows.length
        continue
      }
      if (!tier.sorted && tier.rows.length <= SORT_WHOLE) {
        order.sortRows(tier.rows)
        tier.sorted = true
      }
      const wanted = Math.min(tier.rows.length - skip, page.length - filled)
      const part = tier.sorted ? tier.rows.subarray(skip, skip + wanted) : order.firstRows(tier.rows.slice(), skip, wanted)
      page.set(part, filled)
      filled += part.length
      skip = 0
    }
    return page
  }
}

function keyOf({ market, game, genre, categoryId }: ItemFilter): string {
  return `${market ?? ''}\t${genre ?? ''}\t${categoryId ?? ''}\t${game ?? ''}`
}

const NO_FILTER = keyOf({})
