// Titles and item names of published listings, stored once and searched by word.
import { RowBits } from '#index/bits.ts'
import { parseQuery } from '#index/query.ts'
import type { ColumnStore } from '#index/stored.ts'
import { type Utf8, utf8 } from '#index/utf8.ts'
import { TokenizedTexts } from '#index/tokenized-texts.ts'
import type { PublishedTable } from './published.ts'

/** A word of a query with the terms that contain it, and the approximate number of matching listings. */
interface QueryWord {
  inTitles: number[]
  inNames: number[]
  cost: number
}

const NONE = new Int32Array(0)

export class ListingTexts {
  readonly #table: PublishedTable
  /** by row */
  readonly #titles = new TokenizedTexts()
  /** by item id, for items that have or had a listing */
  readonly #names = new TokenizedTexts()
  #named = 0
  /** rows matched by the current search */
  readonly #rows = new RowBits()
  readonly #items = new RowBits()

  constructor(table: PublishedTable) {
    this.#table = table
  }

  store(columns: ColumnStore): void {
    this.#titles.store(columns)
    this.#names.store(columns)
    this.#named = columns.value(this.#named)
  }

  titleOf(row: number): string {
    return this.#titles.get(row)!
  }

  /** Reserves capacity for `rows` rows. */
  reserve(rows: number): void {
    this.#titles.reserve(rows)
  }

  /** Releases the spare capacity that loading has reserved. */
  pack(): void {
    this.#titles.pack()
    this.#names.pack()
  }

  /** Sets the title of a row; null for none. @returns whether it has changed */
  setTitle(row: number, title: Utf8 | null): boolean {
    return this.#titles.set(row, title)
  }

  /** Sets the name of an item. @returns whether it has changed */
  nameItem(itemId: number, name: string): boolean {
    if (!this.#names.has(itemId)) this.#named += 1
    return this.#names.set(itemId, utf8(name))
  }

  /** Rows with every word of the search in the title or the item's name, ascending; none for an empty search. */
  find(search: string): Int32Array {
    const sought = parseQuery(search).parts.map(({ text }) => this.#wordOf(text))
    const [first, ...others] = sought.sort((a, b) => a.cost - b.cost)
    if (!first) return NONE
    let rows = this.#allWith(first)
    for (const other of others) rows = this.#amongThose(rows, other)
    return rows
  }

  #wordOf(part: string): QueryWord {
    const inTitles = this.#titles.terms.infix(part)
    const inNames = this.#names.terms.infix(part)
    const listingsOfItem = this.#table.live.size / Math.max(1, this.#named)
    return { inTitles, inNames, cost: this.#titles.terms.count(inTitles) + this.#names.terms.count(inNames) * listingsOfItem }
  }

  #allWith({ inTitles, inNames }: QueryWord): Int32Array {
    const rows = this.#rows.clear()
    this.#titles.terms.collect(inTitles, rows)
    const items = this.#items.clear()
    this.#names.terms.collect(inNames, items)
    items.forEach((itemId) => rows.addRows(this.#table.ofItem(itemId)))
    return rows.toRows()
  }

  #amongThose(found: Int32Array, { inTitles, inNames }: QueryWord): Int32Array {
    const rows = this.#rows.clear()
    this.#titles.terms.collect(inTitles, rows)
    const items = this.#items.clear()
    this.#names.terms.collect(inNames, items)
    const { itemId } = this.#table
    return found.filter((row) => rows.has(row) || items.has(itemId[row]!))
  }
}
