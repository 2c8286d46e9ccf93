// Queries over the in-memory items: filters as maintained bitsets, text search, pages at any depth with exact totals.
import { type Market, marketPosition } from '#core/markets.ts'
import { Cache } from '#core/cache.ts'
import { RowBits } from '#index/bits.ts'
import { firstAfter } from '#index/blocks.ts'
import type { ColumnStore } from '#index/stored.ts'
import { type FoldedDoc, RANKS, TextIndex, type TextOptions } from '#index/text.ts'
import { compile } from '../field-query/compile.ts'
import type { FieldQuery } from '../field-query/field-query.ts'
import { GENRES } from '../records/catalogue-records.ts'
import type { CategoryTree } from '../index/category-tree.ts'
import type { ItemTable } from '../index/items.ts'
import type { LabelTree } from '../index/label-tree.ts'
import { hasMarket, type MarketSet } from '../index/market-rule.ts'
import { compareSortKeys, type CursorValue, type SortDirection, type SortField } from '../index/sort-keys.ts'
import { ItemSorts } from '../index/sorts.ts'

export interface ItemFilter {
  /** selects the items that it has prices for or is the home of, and sorts by its prices */
  market?: Market | undefined
  game?: string | undefined
  genre?: string | undefined
  /** including all of its subcategories */
  categoryId?: number | undefined
  /** words that must occur in name, code or category name; ignored if blank */
  search?: string | undefined
  query?: FieldQuery | undefined
  /** epoch milliseconds: only items changed since then, including their prices */
  changedSinceMs?: number | undefined
}

/** Rows of a page in order, and the total over all pages. */
export interface RowPage {
  rows: Int32Array
  total: number
}

/** Start of a keyset page: after the row with this value and id. */
export interface After {
  value: CursorValue
  id: number
}

/** Start of a page of a ranked search: after the row with this rank, name sort key and id. */
export interface AfterMatch {
  rank: number
  name: string
  id: number
}

interface View {
  matches: (row: number) => boolean
  bits: RowBits
  /** version of the category tree it was built with; -1 if it does not depend on it */
  treeVersion: number
  /** position in MARKETS; null if the filter has none */
  market: number | null
}

/** Rows of a filter or search in one order, valid until that order changes. */
interface SortedRows {
  rows: Int32Array
  orderVersion: number
}

/** The rows of a ranked search, best rank first; each rank is sorted by name when one of its pages is first requested. */
interface Ranked {
  rows: Int32Array
  /** the part of the rows that each rank has; arrays of their own would double the memory */
  ranks: { rank: number; from: number; to: number; sorted: boolean }[]
}

/** Whether a page that is read again has the same rows; an empty one shows suggestions, which depend on other rows. */
export function areSameRows(rows: Int32Array, again: Int32Array): boolean {
  return rows.length > 0 && rows.length === again.length && rows.every((row, i) => row === again[i])
}

const CACHED_VIEWS = 256
/** Results of a category or search are cached as row lists up to this size, and as bitsets beyond. */
const MAX_LIST_ROWS = 4_096
/** Maximum size of each kind of cached results, in rows of 4 bytes; each entry also costs a fixed number of rows. */
const CACHED_ROWS = 4_000_000
const ENTRY_ROWS = 128
/** A rank with more rows than this is not sorted completely to serve a single page. */
const SORT_WHOLE = 4_096
/** Reused by all searches, because a typical search uses few of the possible ranks. */
const COUNTS = new Int32Array(RANKS)
const SEARCH_LENGTH = 200
const MAX_SUGGESTIONS = 3

export class ItemQueries {
  readonly text: TextIndex
  readonly sorts: ItemSorts
  readonly #items: ItemTable
  readonly #categories: CategoryTree
  readonly #labels: LabelTree
  readonly #views = new Cache<string, View>({ limit: CACHED_VIEWS })
  readonly #sorted: Cache<string, SortedRows>
  readonly #found: Cache<string, Int32Array | RowBits>
  readonly #ranked: Cache<string, Ranked>
  /** counts price changes, which affect some field queries and filters by time of change */
  #prices = 0
  /** counts changes of which items a filter selects */
  #selections = 0

  /**
   * @param search options of the text search
   * @param cachedRows how many rows each kind of results may hold; 0: no caching
   */
  constructor(items: ItemTable, categories: CategoryTree, labels: LabelTree, search: TextOptions, cachedRows = CACHED_ROWS) {
    this.text = new TextIndex(search)
    this.#sorted = new Cache({ limit: cachedRows, weigh: ({ rows }) => ENTRY_ROWS + rows.length })
    this.#found = new Cache({ limit: cachedRows, weigh: (found) => ENTRY_ROWS + wordsOf(found) })
    this.#ranked = new Cache({ limit: cachedRows, weigh: ({ rows }) => ENTRY_ROWS + rows.length })
    this.#items = items
    this.#categories = categories
    this.#labels = labels
    this.sorts = new ItemSorts(items, labels)
  }

  store(columns: ColumnStore): void {
    this.text.store(columns)
    this.sorts.store(columns)
  }

  /** A page of the filtered list. */
  page(filter: ItemFilter, field: SortField, direction: SortDirection, offset: number, limit: number): RowPage {
    const chosen = this.#chosen(filter, field, direction)
    if (chosen instanceof Int32Array) return { rows: chosen.slice(offset, offset + limit), total: chosen.length }
    const rows = this.sorts.order(field, direction, marketPosition(filter.market)).slice(chosen, offset, limit)
    return { rows, total: chosen ? chosen.size : this.#items.live.size }
  }

  /** A page by cursor: stays correct while items are added and removed. */
  pageAfter(filter: ItemFilter, field: SortField, direction: SortDirection, after: After | null, limit: number): { rows: Int32Array; more: boolean } {
    const { id } = this.#items
    const { sorts } = this
    const market = marketPosition(filter.market)
    const order = sorts.order(field, direction, market)
    const chosen = this.#chosen(filter, field, direction)
    const value = after && sorts.valueOf(after.value, market)
    const probe = after && ((row: number) => compareSortKeys(sorts.value(field, market, row), id[row]!, value, after.id, direction))
    if (chosen instanceof Int32Array) {
      const from = probe ? firstAfter(chosen, chosen.length, probe, false) : 0
      return { rows: chosen.slice(from, from + limit), more: chosen.length > from + limit }
    }
    if (probe) return order.sliceAfter(probe, chosen, limit)
    const rows = order.slice(chosen, 0, limit + 1)
    return { rows: rows.subarray(0, limit), more: rows.length > limit }
  }

  /** A page of the ranked search: best match first, ties by name and id. */
  search(q: string, filter: Omit<ItemFilter, 'search'>, offset: number, limit: number): RowPage {
    const ranked = this.#rankedBy(q, filter)
    return { rows: this.#rankedRows(ranked, offset, limit), total: ranked.rows.length }
  }

  /**
   * A page of the ranked search by cursor. A row's rank depends only on the row and the search, so that pages stay correct while other
   * items are added and removed.
   * @returns the rows, the rank of the last one (-1 for none), and whether more follow
   */
  searchAfter(
    q: string,
    filter: Omit<ItemFilter, 'search'>,
    after: AfterMatch | null,
    limit: number,
  ): { rows: Int32Array; rank: number; more: boolean } {
    const ranked = this.#rankedBy(q, filter)
    const order = this.sorts.order('name', 'asc', null)
    const rows = new Int32Array(limit)
    let filled = 0
    let last = -1
    for (const { rank, from, to } of ranked.ranks) {
      if (after && rank < after.rank) continue
      const matches = ranked.rows.subarray(from, to)
      const left = after?.rank === rank ? matches.filter((row) => this.#comesAfter(row, after)) : matches
      if (left.length > 0 && filled === limit) return { rows, rank: last, more: true }
      const part = left.length === 0 ? left : order.firstRows(left.slice(), 0, limit - filled)
      rows.set(part, filled)
      filled += part.length
      if (part.length > 0) last = rank
      if (left.length > part.length) return { rows, rank: last, more: true }
    }
    return { rows: rows.subarray(0, filled), rank: last, more: false }
  }

  /**
   * Changes when a page of this filter may have other rows, as far as that follows from prices.
   * @param field of the sort; null for a ranked search
   */
  listVersion(filter: ItemFilter, field: SortField | null, direction: SortDirection = 'asc'): number {
    const order = field === 'price' || field === 'updated_at' ? this.sorts.order(field, direction, marketPosition(filter.market)).version : 0
    return this.#selections + order + (readsPrices(filter) ? this.#prices : 0)
  }

  /** Up to three similar searches that do have results with this filter, for a search without any. */
  suggestions(q: string, filter: Omit<ItemFilter, 'search'>): string[] {
    const matches = keyOf(filter) === NO_FILTER ? null : this.#matcher(filter)
    const some = (rows: Int32Array) => (matches ? rows.some(matches) : rows.length > 0)
    const findsAsTyped = (search: string) => some(this.text.filter(search))
    const finds = (search: string) => findsAsTyped(search) || some(this.text.ranked(search).rows)
    return this.text.suggestions(q.slice(0, SEARCH_LENGTH), MAX_SUGGESTIONS, finds, findsAsTyped)
  }

  /** Call when an item is new or changed; `doc` is its search text. */
  set(row: number, doc: FoldedDoc): void {
    this.text.setFolded(row, doc)
    this.sorts.mark(row)
    this.#forgetResults()
    for (const [, view] of this.#views.entries()) review(view, row)
  }

  /**
   * Call when only prices of an item have changed.
   * @param markets whose prices have changed
   * @param reselected those of the markets whose selection of the item has changed
   */
  setPrices(row: number, markets: MarketSet, reselected: MarketSet): void {
    this.sorts.markPrices(row, markets, reselected)
    this.#prices += 1
    if (reselected === 0) return
    this.#forgetResults()
    for (const [, view] of this.#views.entries()) {
      if (view.market !== null && hasMarket(reselected, view.market)) review(view, row)
    }
  }

  drop(row: number): void {
    this.text.remove(row)
    this.sorts.drop(row)
    this.#forgetResults()
    for (const [, view] of this.#views.entries()) view.bits.delete(row)
  }

  /** Call when search results have changed without a change of items. */
  forgetSearches(): void {
    this.#forgetResults()
  }

  #forgetResults(): void {
    this.#selections += 1
    this.#sorted.clear()
    this.#found.clear()
    this.#ranked.clear()
  }

  #rankedBy(q: string, filter: Omit<ItemFilter, 'search'>): Ranked {
    const query = q.slice(0, SEARCH_LENGTH)
    const key = this.#searchKey(filter, query)
    let ranked = this.#ranked.get(key)
    if (!ranked) {
      ranked = this.#rank(query, this.#condition(filter))
      this.#ranked.set(key, ranked)
    }
    return ranked
  }

  #comesAfter(row: number, after: AfterMatch): boolean {
    return compareSortKeys(this.sorts.value('name', null, row), this.#items.id[row]!, after.name, after.id, 'asc') > 0
  }

  /** The filtered rows: sorted as requested if there are few, otherwise as a set; null for all. */
  #chosen(filter: ItemFilter, field: SortField, direction: SortDirection): Int32Array | RowBits | null {
    const query = filter.search?.slice(0, SEARCH_LENGTH).trim() ?? ''
    if (query === '' && filter.categoryId === undefined && !isScanned(filter)) return this.#view(filter)
    const order = this.sorts.order(field, direction, marketPosition(filter.market))
    const searched = this.#searchKey(filter, query)
    const key = `${field} ${direction}\t${searched}`
    const sorted = this.#sorted.get(key)
    if (sorted?.orderVersion === order.version) return sorted.rows
    const chosen = query !== '' ? this.#search(filter, query, searched) : isScanned(filter) ? this.#scanned(filter, searched) : this.#below(filter)
    if (chosen instanceof RowBits) return chosen
    const rows = order.sortRows(chosen.slice())
    this.#sorted.set(key, { rows, orderVersion: order.version })
    return rows
  }

  #search(filter: ItemFilter, query: string, key: string): Int32Array | RowBits {
    const cached = this.#found.get(key)
    if (cached) return cached
    const all = this.text.filter(query)
    const condition = this.#condition(filter)
    const rows = condition ? all.filter(condition) : all
    const found = rows.length <= MAX_LIST_ROWS ? rows : RowBits.of(rows)
    this.#found.set(key, found)
    return found
  }

  /** Includes the versions that a result depends on: that of the category tree, and that of prices if the filter uses them. */
  #searchKey(filter: ItemFilter, query: string): string {
    const tree = filter.categoryId === undefined && !filter.query ? '' : this.#categories.version
    const prices = readsPrices(filter) ? this.#prices : ''
    return `${tree}\t${prices}\t${keyOf(filter)}\t${query}`
  }

  /** The conditions besides the search text; null for none. */
  #condition(filter: ItemFilter): ((row: number) => boolean) | null {
    if (keyOf(filter) === NO_FILTER) return null
    if (!filter.query) return this.#matcher(filter)
    const found = this.#scanned(filter, this.#searchKey(filter, ''))
    const bits = found instanceof RowBits ? found : RowBits.of(found)
    return (row) => bits.has(row)
  }

  /** Rows of a filter that must test every item: a field query, or changes since a time. */
  #scanned(filter: ItemFilter, key: string): Int32Array | RowBits {
    const cached = this.#found.get(key)
    if (cached) return cached
    const { query, ...rest } = filter
    const among = keyOf(rest) === NO_FILTER ? this.#items.live : this.#items.live.filter(this.#matcher(rest))
    const bits = query ? this.#select(query, filter.market, among) : among
    const found = bits.size <= MAX_LIST_ROWS ? bits.toRows() : bits
    this.#found.set(key, found)
    return found
  }

  #select({ query }: FieldQuery, market: Market | undefined, among: RowBits): RowBits {
    const searched = { items: this.#items, categories: this.#categories, labels: this.#labels, text: this.text, market: marketPosition(market) }
    return compile(query, searched)(among)
  }

  /** Rows of a filter by market, game and genre; null for all. */
  #view(filter: ItemFilter): RowBits | null {
    const key = keyOf(filter)
    if (key === NO_FILTER) return null
    const cached = this.#views.get(key)
    if (cached) return cached.bits
    const matches = this.#matcher(filter)
    const bits = new RowBits(this.#items.rows)
    this.#items.live.forEach((row) => {
      if (matches(row)) bits.add(row)
    })
    this.#views.set(key, { matches, bits, treeVersion: -1, market: marketPosition(filter.market) })
    return bits
  }

  /** Rows of a filter by category and any other conditions. */
  #below(filter: ItemFilter): Int32Array | RowBits {
    const key = keyOf(filter)
    const { version: treeVersion } = this.#categories
    const cached = this.#views.get(key)
    if (cached?.treeVersion === treeVersion) return cached.bits
    const matches = this.#matcher(filter)
    const bits = new RowBits(this.#items.rows)
    const { live, categoryRows } = this.#items
    categoryRows.forEach(this.#categories.subtree(filter.categoryId!), (row) => {
      if (live.has(row) && matches(row)) bits.add(row)
    })
    if (bits.size <= MAX_LIST_ROWS) return bits.toRows()
    this.#views.set(key, { matches, bits, treeVersion, market: marketPosition(filter.market) })
    return bits
  }

  /** The test of a filter, without its search and field query. */
  #matcher({ market: selected, game, genre, categoryId, changedSinceMs }: ItemFilter): (row: number) => boolean {
    const items = this.#items
    const market = marketPosition(selected)
    const genreNumber = genre === undefined ? -1 : GENRES.indexOf(genre as (typeof GENRES)[number])
    const below = categoryId === undefined ? null : this.#categories.subtree(categoryId)
    return (row) =>
      (market === null || items.isSelectedBy(market, row)) &&
      (genreNumber < 0 || items.genre[row] === genreNumber) &&
      (changedSinceMs === undefined || items.changedAtMs[row]! >= changedSinceMs) &&
      (game === undefined || items.gameOf(row) === game) &&
      (below === null || below.has(items.categoryId[row]!))
  }

  #rank(query: string, matches: ((row: number) => boolean) | null): Ranked {
    const { rows, ranks } = this.text.ranked(query)
    const counts = COUNTS
    const found: number[] = []
    let total = 0
    for (let i = 0; i < rows.length; i += 1) {
      if (matches && !matches(rows[i]!)) continue
      const rank = ranks[i]!
      if (counts[rank] === 0) found.push(rank)
      counts[rank]! += 1
      total += 1
    }
    let to = 0
    const byRank = found
      .sort((a, b) => a - b)
      .map((rank) => {
        const from = to
        to += counts[rank]!
        // Counts positions from here on.
        counts[rank] = from
        return { rank, from, to, sorted: false }
      })
    const ordered = new Int32Array(total)
    for (let i = 0; i < rows.length; i += 1) {
      if (matches && !matches(rows[i]!)) continue
      const rank = ranks[i]!
      ordered[counts[rank]!] = rows[i]!
      counts[rank]! += 1
    }
    for (const rank of found) counts[rank] = 0
    return { rows: ordered, ranks: byRank }
  }

  #rankedRows(ranked: Ranked, offset: number, limit: number): Int32Array {
    const order = this.sorts.order('name', 'asc', null)
    const page = new Int32Array(Math.max(0, Math.min(limit, ranked.rows.length - offset)))
    const end = offset + page.length
    for (const of of ranked.ranks) {
      if (of.from >= end) break
      if (of.to <= offset) continue
      const rows = ranked.rows.subarray(of.from, of.to)
      if (!of.sorted && rows.length <= SORT_WHOLE) {
        order.sortRows(rows)
        of.sorted = true
      }
      const from = Math.max(offset, of.from)
      const count = Math.min(end, of.to) - from
      const skipped = from - of.from
      page.set(of.sorted ? rows.subarray(skipped, skipped + count) : order.firstRows(rows.slice(), skipped, count), from - offset)
    }
    return page
  }
}

function review({ matches, bits }: View, row: number): void {
  if (matches(row)) bits.add(row)
  else bits.delete(row)
}

/** Size of cached results in words of 4 bytes. */
function wordsOf(found: Int32Array | RowBits): number {
  return found instanceof RowBits ? found.words : found.length
}

/** Whether the rows of the filter must be found by a scan: no sets are maintained for it, because its values rarely repeat. */
function isScanned({ query, changedSinceMs }: ItemFilter): boolean {
  return query !== undefined || changedSinceMs !== undefined
}

/** Whether changed prices may change which items a filter selects, even if no market selects others. */
function readsPrices({ query, changedSinceMs }: ItemFilter): boolean {
  return (query?.asksPrices ?? false) || changedSinceMs !== undefined
}

function keyOf({ market, game, genre, categoryId, query, changedSinceMs }: ItemFilter): string {
  return `${market ?? ''}\t${genre ?? ''}\t${categoryId ?? ''}\t${game ?? ''}\t${changedSinceMs ?? ''}\t${query?.canonical ?? ''}`
}

const NO_FILTER = keyOf({})
