// All items in memory as columns: one row per item, texts outside the heap, prices in contiguous runs.
import { MARKETS, type Market } from '#core/markets.ts'
import { RowBits } from '#index/bits.ts'
import { withCapacity } from '#index/columns.ts'
import { numberOf } from '#index/codes.ts'
import { fold } from '#index/fold.ts'
import type { ColumnStore } from '#index/stored.ts'
import { copyOf, type Utf8 } from '#index/utf8.ts'
import { codeSortKey } from '../records/code-order.ts'
import { GENRES } from '../records/catalogue-records.ts'
import { CategoryRows } from './category-rows.ts'
import { Facets } from './facets.ts'
import { Interned } from './interned.ts'
import { hasMarket, MarketRule, type MarketSet } from './market-rule.ts'
import { PriceTable } from './price-table.ts'
import { type ItemTexts, TextArena } from './text-arena.ts'

/** An item as loaded from the database; JSON columns as text. */
export interface ItemSource extends Record<keyof ItemTexts, Utf8> {
  id: number
  /** position in MARKETS */
  market: number
  name: string
  code: string | null
  genre: string
  game: string
  categoryId: number
  /** ids of groups */
  groups: string
  updatedAtMs: number
  /** in other languages; they are indexed for search, not stored with the item */
  names: readonly string[]
  dexIds: readonly number[]
}

/** Returns the item with its own copy of the texts. */
export function copyOfItem(item: ItemSource): ItemSource {
  const { slug, images, attributes, details } = item
  return { ...item, slug: copyOf(slug), images: copyOf(images), attributes: copyOf(attributes), details: copyOf(details) }
}

/** The items of a node as columns: an item keeps its row while it exists. */
export class ItemTable {
  readonly texts = new TextArena()
  readonly prices = new PriceTable()
  readonly names = new Interned(fold)
  readonly codes = new Interned(codeSortKey)
  readonly games = new Interned((game) => game)
  /** distinct lists of group ids, such as `1,2` */
  readonly groupLists = new Interned((list) => list)
  /** rows that contain an item */
  readonly live = new RowBits()
  readonly categoryRows = new CategoryRows()
  readonly facets = new Facets()

  id = new Int32Array(0)
  /** home: the market whose catalogue the item comes from */
  market = new Uint8Array(0)
  /** the market whose prices are shown by default */
  shown = new Uint8Array(0)
  /** the markets that select each item (those with prices, and home), as bit sets */
  #markets = new Uint8Array(0)
  genre = new Uint8Array(0)
  game = new Int32Array(0)
  categoryId = new Int32Array(0)
  name = new Int32Array(0)
  /** number in `codes`, -1 for none */
  code = new Int32Array(0)
  groupList = new Int32Array(0)
  updatedAtMs = new Float64Array(0)
  /** when this service last recorded a change of the item or one of its prices */
  changedAtMs = new Float64Array(0)
  /** counts changes of the item and its prices, so that dependents can detect outdated derived data */
  version = new Uint32Array(0)
  /** distinct numbers of codes in normal form (no leading zeros or totals) */
  readonly numbers = new Interned((number) => number)
  readonly #codeNumbers: string[] = []
  #numberOfCodes = new Int32Array(0)
  /** number of items directly in the category, by id */
  #inCategory = new Int32Array(0)
  #rows = 0
  /** row + 1 by id, 0 for none; an alias has the row of its survivor */
  #rowOfId = new Int32Array(0)
  /** survivors of merged items, which may be merged themselves */
  readonly #aliases = new Map<number, number>()
  #rule: MarketRule

  /** @param marketOrder the setting MARKET_ORDER */
  constructor(marketOrder: readonly Market[]) {
    this.#rule = new MarketRule(marketOrder)
  }

  /** Every row must be derived again afterwards. */
  setMarketOrder(marketOrder: readonly Market[]): void {
    this.#rule = new MarketRule(marketOrder)
  }

  store(columns: ColumnStore): void {
    const { texts, prices, names, codes, games, groupLists, live, categoryRows, facets } = this
    for (const part of [texts, prices, names, codes, games, groupLists, live, categoryRows, facets]) part.store(columns)
    this.id = columns.column(this.id)
    this.market = columns.column(this.market)
    this.shown = columns.column(this.shown)
    this.#markets = columns.column(this.#markets)
    this.genre = columns.column(this.genre)
    this.game = columns.column(this.game)
    this.categoryId = columns.column(this.categoryId)
    this.name = columns.column(this.name)
    this.code = columns.column(this.code)
    this.groupList = columns.column(this.groupList)
    this.updatedAtMs = columns.column(this.updatedAtMs)
    this.changedAtMs = columns.column(this.changedAtMs)
    this.version = columns.column(this.version)
    this.#inCategory = columns.column(this.#inCategory)
    this.#rowOfId = columns.column(this.#rowOfId)
    this.#rows = columns.value(this.#rows)
    const aliases = columns.numbers(this.#aliases.keys())
    const into = columns.numbers(this.#aliases.values())
    if (columns.reading) for (const [i, id] of aliases.entries()) this.#aliases.set(id, into[i]!)
  }

  /** Row of the item with this id or alias; -1 if there is none. */
  rowOf(id: number): number {
    return (this.#rowOfId[id] ?? 0) - 1
  }

  /** Resolves ids to the items they were merged into; null removes an alias. */
  setAliases(intoById: Iterable<readonly [id: number, into: number | null]>): void {
    for (const [id, into] of intoById) {
      if (into === null) this.#aliases.delete(id)
      else this.#aliases.set(id, into)
    }
    // Resolves all aliases again, because a survivor may itself have been merged or restored.
    for (const id of this.#aliases.keys()) {
      if (this.#ownRow(id) >= 0) continue
      let live = id
      // The chain may briefly be a cycle: one item was merged into the other, split from it, and then merged the other way round.
      for (let steps = 0; steps < this.#aliases.size && this.#aliases.has(live); steps += 1) live = this.#aliases.get(live)!
      if (id >= this.#rowOfId.length) this.#reach(this.#rows, id)
      this.#rowOfId[id] = this.#rowOfId[live] ?? 0
    }
  }

  /** Number of rows ever used, including those no longer live. */
  get rows(): number {
    return this.#rows
  }

  /** Reserves memory for this many items, ids up to the largest, and approximately this many prices. */
  reserve(items: number, largestId: number, prices: number): void {
    this.#reach(items, largestId)
    this.texts.reserve(items)
    this.facets.reserve(items)
    this.prices.reserve(items, prices)
  }

  /** Frees memory that is left over from loading. */
  pack(): void {
    this.prices.pack()
    this.categoryRows.pack()
  }

  /** Adds or updates an item and returns its row; its prices are kept. */
  set(item: ItemSource): number {
    let row = this.#ownRow(item.id)
    if (row < 0) {
      row = this.#rows
      this.#rows += 1
      if (row >= this.id.length || item.id >= this.#rowOfId.length) this.#reach(row + 1, item.id)
      this.#rowOfId[item.id] = row + 1
      this.#count(item.categoryId, 1)
      this.categoryRows.add(item.categoryId, row)
    } else if (this.categoryId[row] !== item.categoryId) {
      this.#count(this.categoryId[row]!, -1)
      this.#count(item.categoryId, 1)
      this.categoryRows.add(item.categoryId, row)
    }
    this.id[row] = item.id
    this.market[row] = item.market
    this.genre[row] = GENRES.indexOf(item.genre as (typeof GENRES)[number])
    this.game[row] = this.games.number(item.game)
    this.categoryId[row] = item.categoryId
    this.name[row] = this.names.number(item.name)
    this.code[row] = item.code === null ? -1 : this.codes.number(item.code)
    this.groupList[row] = this.groupLists.number(item.groups)
    this.updatedAtMs[row] = item.updatedAtMs
    this.noteChange(row, item.updatedAtMs)
    this.texts.set(row, item)
    this.facets.set(row, item.attributes, item.details)
    this.live.add(row)
    this.touch(row)
    return row
  }

  /** Records when an item or one of its prices changed; keeps the latest time. */
  noteChange(row: number, atMs: number): void {
    if (atMs > this.changedAtMs[row]!) this.changedAtMs[row] = atMs
  }

  /** Counts a change of the item's prices. */
  touch(row: number): void {
    this.version[row]! += 1
  }

  /** Removes an item; its row is not reused. */
  remove(id: number): number {
    const row = this.#ownRow(id)
    if (row < 0) return row
    this.live.delete(row)
    this.#count(this.categoryId[row]!, -1)
    this.#rowOfId[id] = 0
    return row
  }

  /**
   * Recomputes the columns that depend on an item's home and prices.
   * @returns the markets whose selection of the item has changed
   */
  derive(row: number): MarketSet {
    const home = this.market[row]!
    const priced = this.prices.markets(row)
    const before = this.#markets[row]!
    const now = this.#rule.selecting(home, priced)
    this.shown[row] = this.#rule.shown(home, this.prices.preferences(row))
    this.#markets[row] = now
    return before ^ now
  }

  /** Whether `market=` selects the item. */
  isSelectedBy(market: number, row: number): boolean {
    return hasMarket(this.#markets[row]!, market)
  }

  /** Number of items directly in these categories. */
  countIn(categoryIds: Iterable<number>): number {
    let count = 0
    for (const id of categoryIds) count += this.#inCategory[id] ?? 0
    return count
  }

  nameOf(row: number): string {
    return this.names.texts[this.name[row]!]!
  }

  codeOf(row: number): string | null {
    const code = this.code[row]!
    return code < 0 ? null : this.codes.texts[code]!
  }

  /** The numbers of all distinct codes, in the order of `codes`. */
  codeNumbers(): readonly string[] {
    for (let i = this.#codeNumbers.length; i < this.codes.texts.length; i += 1) {
      const number = this.numbers.number(numberOf(this.codes.texts[i]!))
      this.#numberOfCodes = withCapacity(this.#numberOfCodes, i + 1)
      this.#numberOfCodes[i] = number
      this.#codeNumbers.push(this.numbers.texts[number]!)
    }
    return this.#codeNumbers
  }

  /** The same as positions in `numbers`. */
  numberOfCodes(): Int32Array {
    this.codeNumbers()
    return this.#numberOfCodes
  }

  /** The finish in its source's spelling; null if none is stated. */
  finishOf(row: number): string | null {
    const { values, columns } = this.facets
    return values.finish.texts[columns.finish[row]!]! || null
  }

  /** Equal for all finishes of a card, which have category, code and name in common. */
  cardOf(row: number): string {
    return `${this.categoryId[row]} ${this.code[row]} ${this.name[row]}`
  }

  gameOf(row: number): string {
    return this.games.texts[this.game[row]!]!
  }

  genreOf(row: number): string {
    return GENRES[this.genre[row]!]!
  }

  /** The market whose catalogue an item comes from. */
  marketOf(row: number): Market {
    return MARKETS[this.market[row]!]!
  }

  /** Group ids of an item. */
  groupIds(row: number): number[] {
    const list = this.groupLists.texts[this.groupList[row]!]!
    return list === '' ? [] : list.split(',').map(Number)
  }

  /** Row of the item itself, not of its survivor. */
  #ownRow(id: number): number {
    const row = this.rowOf(id)
    return row >= 0 && this.id[row] === id ? row : -1
  }

  #count(categoryId: number, more: number): void {
    this.#inCategory = withCapacity(this.#inCategory, categoryId + 1)
    this.#inCategory[categoryId]! += more
  }

  #reach(length: number, id: number): void {
    this.#rowOfId = withCapacity(this.#rowOfId, id + 1)
    this.id = withCapacity(this.id, length)
    this.market = withCapacity(this.market, length)
    this.shown = withCapacity(this.shown, length)
    this.#markets = withCapacity(this.#markets, length)
    this.genre = withCapacity(this.genre, length)
    this.game = withCapacity(this.game, length)
    this.categoryId = withCapacity(this.categoryId, length)
    this.name = withCapacity(this.name, length)
    this.code = withCapacity(this.code, length)
    this.groupList = withCapacity(this.groupList, length)
    this.updatedAtMs = withCapacity(this.updatedAtMs, length)
    this.changedAtMs = withCapacity(this.changedAtMs, length)
    this.version = withCapacity(this.version, length)
  }
}
