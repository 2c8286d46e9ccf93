// Queries over the items in memory: filters as bitsets kept up to date, text search, pages at any depth with exact totals.
import { type Market, marketPosition } from '#core/markets.ts'
import { Cache } from '#core/cache.ts'
import { RowBits } from '#index/bits.ts'
import { firstPast } from '#index/blocks.ts'
import type { ColumnStore } from '#index/stored.ts'
import { type FoldedDoc, RANKS, TextIndex, type TextOptions } from '#index/text.ts'
import { compile } from '../field-query/compile.ts'
import type { FieldQuery } from '../field-query/field-query.ts'
import { GENRES } from '../records.ts'
import type { CategoryTree } from './category-tree.ts'
import type { ItemTable } from './items.ts'
import type { LabelTree } from './label-tree.ts'
import { hasMarket, type MarketSet } from './market-rule.ts'
import { compareSortKeys, type CursorValue, type SortDirection, type SortField } from './sort-keys.ts'
import { ItemSorts } from './sorts.ts'

export interface ItemFilter {
  /** selects the items that it prices or is home of, and its prices are sorted by */
  market?: Market | undefined
  game?: string | undefined
  genre?: string | undefined
  /** with everything below it */
  categoryId?: number | undefined
  /** words that name, code or category name must have; blank is none */
  search?: string | undefined
  query?: FieldQuery | undefined
  /** epoch milliseconds: only items that changed then or later, or whose prices did */
  changedSinceMs?: number | undefined
}

/** Rows of a page in order, and how many there are over all pages. */
export interface RowPage {
  rows: Int32Array
  total: number
}

/** Where a keyset page begins: after the row that had this value and id. */
export interface After {
  value: CursorValue
  id: number
}

/** Where a page of a ranked search begins: after the row of this rank, sort key of its name and id. */
export interface AfterMatch {
  rank: number
  name: string
  id: number
}

interface View {
  matches: (row: number) => boolean
  bits: RowBits
  /** version of the category tree it was made with, -1 where it does not depend on it */
  treeVersion: number
  /** position in MARKETS, null where the filter has none */
  market: number | null
}

/** Rows of a filter or search in one order, as long as that order does not change. */
interface SortedRows {
  rows: Int32Array
  orderVersion: number
}

/** A ranked search: rows by rank, those of each sorted by name when a page of them is first asked for. */
interface Ranked {
  ranks: { rank: number; rows: Int32Array; sorted: boolean }[]
  total: number
}

const CACHED_VIEWS = 256
/** Rows of a category or a search are kept as they are up to this many, and as bits beyond. */
const FEW = 4_096
/** Rows, of 4 bytes, that each kind of kept results may have together; an entry counts some for itself. */
const CACHED_ROWS = 4_000_000
const ENTRY_ROWS = 128
/** Rows of one rank that are more than this are not sorted whole for one page of them. */
const SORT_WHOLE = 4_096
/** Reasonable searches have few ranks of the many there may be. */
const COUNTS = new Int32Array(RANKS)
const SEARCH_LENGTH = 200
const MOST_SUGGESTIONS = 3

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
  /** counts changes of prices, on which what some field queries find depends, and what changed since a moment */
  #prices = 0

  /**
   * @param search how texts are searched
   * @param cachedRows how many rows each kind of results may hold; 0: none are cached
   */
  constructor(items: ItemTable, categories: CategoryTree, labels: LabelTree, search: TextOptions, cachedRows = CACHED_ROWS) {
    this.text = new TextIndex(search)
    this.#sorted = new Cache({ limit: cachedRows, weigh: ({ rows }) => ENTRY_ROWS + rows.length })
    this.#found = new Cache({ limit: cachedRows, weigh: (found) => ENTRY_ROWS + wordsOf(found) })
    this.#ranked = new Cache({ limit: cachedRows, weigh: ({ total }) => ENTRY_ROWS + total })
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

  /** A page by cursor: right also while items come and go. */
  pageAfter(filter: ItemFilter, field: SortField, direction: SortDirection, after: After | null, limit: number): { rows: Int32Array; more: boolean } {
    const { id } = this.#items
    const { sorts } = this
    const market = marketPosition(filter.market)
    const order = sorts.order(field, direction, market)
    const chosen = this.#chosen(filter, field, direction)
    const value = after && sorts.valueOf(after.value, market)
    const probe = after && ((row: number) => compareSortKeys(sorts.value(field, market, row), id[row]!, value, after.id, direction))
    if (chosen instanceof Int32Array) {
      const from = probe ? firstPast(chosen, chosen.length, probe, false) : 0
      return { rows: chosen.slice(from, from + limit), more: chosen.length > from + limit }
    }
    if (probe) return order.sliceAfter(probe, chosen, limit)
    const rows = order.slice(chosen, 0, limit + 1)
    return { rows: rows.subarray(0, limit), more: rows.length > limit }
  }

  /** A page of the ranked search: best match first, ties by name and id. */
  search(q: string, filter: Omit<ItemFilter, 'search'>, offset: number, limit: number): RowPage {
    const ranked = this.#rankedBy(q, filter)
    return { rows: this.#rankedRows(ranked, offset, limit), total: ranked.total }
  }

  /**
   * A page of the ranked search by cursor: a row's rank depends on the row and the search alone, so that the page is right
   * also while other items come and go.
   * @returns the rows, the rank of the last of them (-1 for none), and whether more follow
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
    for (const { rank, rows: matches } of ranked.ranks) {
      if (after && rank < after.rank) continue
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

  /** Up to three searches like one that finds nothing, each of which finds something with the filter. */
  suggestions(q: string, filter: Omit<ItemFilter, 'search'>): string[] {
    const matches = keyOf(filter) === NO_FILTER ? null : this.#matcher(filter)
    const some = (rows: Int32Array) => (matches ? rows.some(matches) : rows.length > 0)
    const findsAsTyped = (search: string) => some(this.text.filter(search))
    const finds = (search: string) => findsAsTyped(search) || some(this.text.ranked(search).rows)
    return this.text.suggestions(q.slice(0, SEARCH_LENGTH), MOST_SUGGESTIONS, finds, findsAsTyped)
  }

  /** An item is new or changed: `doc` is what is searched of it. */
  set(row: number, doc: FoldedDoc): void {
    this.text.setFolded(row, doc)
    this.sorts.mark(row)
    this.#forgetResults()
    for (const [, view] of this.#views.entries()) review(view, row)
  }

  /**
   * Only prices of an item have changed.
   * @param markets whose prices have changed
   * @param reselected the markets among them that select the item now but did not before, or the other way round
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

  /** What searches find has changed without the items. */
  forgetSearches(): void {
    this.#forgetResults()
  }

  #forgetResults(): void {
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

  /** What a filter leaves: its rows in the order asked for while they are few, else their set; null for all. */
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
    const known = this.#found.get(key)
    if (known) return known
    const all = this.text.filter(query)
    const condition = this.#condition(filter)
    const rows = condition ? all.filter(condition) : all
    const found = rows.length <= FEW ? rows : RowBits.of(rows)
    this.#found.set(key, found)
    return found
  }

  /** What was found below a category holds for the tree as it was, what a field query found for the prices that it asks. */
  #searchKey(filter: ItemFilter, query: string): string {
    const tree = filter.categoryId === undefined && !filter.query ? '' : this.#categories.version
    const prices = filter.query?.asksPrices || filter.changedSinceMs !== undefined ? this.#prices : ''
    return `${tree}\t${prices}\t${keyOf(filter)}\t${query}`
  }

  /** What is asked beside a search, null for nothing. */
  #condition(filter: ItemFilter): ((row: number) => boolean) | null {
    if (keyOf(filter) === NO_FILTER) return null
    if (!filter.query) return this.#matcher(filter)
    const found = this.#scanned(filter, this.#searchKey(filter, ''))
    const bits = found instanceof RowBits ? found : RowBits.of(found)
    return (row) => bits.has(row)
  }

  /** Rows of a filter for which every item is looked at: a field query, or what changed since a time. */
  #scanned(filter: ItemFilter, key: string): Int32Array | RowBits {
    const known = this.#found.get(key)
    if (known) return known
    const { query, ...rest } = filter
    const among = keyOf(rest) === NO_FILTER ? this.#items.live : this.#items.live.filter(this.#matcher(rest))
    const bits = query ? this.#select(query, filter.market, among) : among
    const found = bits.size <= FEW ? bits.toRows() : bits
    this.#found.set(key, found)
    return found
  }

  #select({ query }: FieldQuery, market: Market | undefined, among: RowBits): RowBits {
    const searched = { items: this.#items, categories: this.#categories, labels: this.#labels, text: this.text, market: marketPosition(market) }
    return compile(query, searched)(among)
  }

  /** Rows of a filter by market, game and genre, null for all. */
  #view(filter: ItemFilter): RowBits | null {
    const key = keyOf(filter)
    if (key === NO_FILTER) return null
    const known = this.#views.get(key)
    if (known) return known.bits
    const matches = this.#matcher(filter)
    const bits = new RowBits(this.#items.rows)
    this.#items.live.forEach((row) => {
      if (matches(row)) bits.add(row)
    })
    this.#views.set(key, { matches, bits, treeVersion: -1, market: marketPosition(filter.market) })
    return bits
  }

  /** Rows of a filter by category, and whatever else it asks. */
  #below(filter: ItemFilter): Int32Array | RowBits {
    const key = keyOf(filter)
    const { version: treeVersion } = this.#categories
    const known = this.#views.get(key)
    if (known?.treeVersion === treeVersion) return known.bits
    const matches = this.#matcher(filter)
    const bits = new RowBits(this.#items.rows)
    const { live, categoryRows } = this.#items
    categoryRows.forEach(this.#categories.subtree(filter.categoryId!), (row) => {
      if (live.has(row) && matches(row)) bits.add(row)
    })
    if (bits.size <= FEW) return bits.toRows()
    this.#views.set(key, { matches, bits, treeVersion, market: marketPosition(filter.market) })
    return bits
  }

  /** The test of a filter without its search and field query. */
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
    const byRank = found
      .sort((a, b) => a - b)
      .map((rank) => {
        const of = { rank, rows: new Int32Array(counts[rank]!), sorted: false }
        counts[rank] = 0
        return of
      })
    const place = new Map(byRank.map((of) => [of.rank, of.rows]))
    let last = -1
    let into = new Int32Array(0)
    for (let i = 0; i < rows.length; i += 1) {
      if (matches && !matches(rows[i]!)) continue
      const rank = ranks[i]!
      if (rank !== last) {
        last = rank
        into = place.get(rank)!
      }
      into[counts[rank]!] = rows[i]!
      counts[rank]! += 1
    }
    for (const { rank } of byRank) counts[rank] = 0
    return { ranks: byRank, total }
  }

  #rankedRows(ranked: Ranked, offset: number, limit: number): Int32Array {
    const order = this.sorts.order('name', 'asc', null)
    const page = new Int32Array(Math.max(0, Math.min(limit, ranked.total - offset)))
    let filled = 0
    let skip = offset
    for (const of of ranked.ranks) {
      if (filled === page.length) break
      if (skip >= of.rows.length) {
        skip -= of.rows.length
        continue
      }
      if (!of.sorted && of.rows.length <= SORT_WHOLE) {
        order.sortRows(of.rows)
        of.sorted = true
      }
      const wanted = Math.min(of.rows.length - skip, page.length - filled)
      const part = of.sorted ? of.rows.subarray(skip, skip + wanted) : order.firstRows(of.rows.slice(), skip, wanted)
      page.set(part, filled)
      filled += part.length
      skip = 0
    }
    return page
  }
}

function review({ matches, bits }: View, row: number): void {
  if (matches(row)) bits.add(row)
  else bits.delete(row)
}

/** How many words of 4 bytes kept results take. */
function wordsOf(found: Int32Array | RowBits): number {
  return found instanceof RowBits ? found.words : found.length
}

/** Whether no set of rows is kept for a filter: it is asked with other values each time. */
function isScanned({ query, changedSinceMs }: ItemFilter): boolean {
  return query !== undefined || changedSinceMs !== undefined
}

function keyOf({ market, game, genre, categoryId, query, changedSinceMs }: ItemFilter): string {
  return `${market ?? ''}\t${genre ?? ''}\t${categoryId ?? ''}\t${game ?? ''}\t${changedSinceMs ?? ''}\t${query?.canonical ?? ''}`
}

const NO_FILTER = keyOf({})
