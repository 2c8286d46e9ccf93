// Titles of published listings and the names of their items: kept once, and searched by the words in them.
import { RowBits } from '#index/bits.ts'
import { fold } from '#index/fold.ts'
import { PackedTexts } from '#index/packed.ts'
import { parseQuery } from '#index/query.ts'
import { TermRows } from '#index/terms.ts'
import type { PublishedTable } from './published.ts'

/** A part of a query with the terms that contain it, and about how many listings have one of them. */
interface Sought {
  inTitles: number[]
  inNames: number[]
  cost: number
}

const NONE = new Int32Array(0)

export class ListingTexts {
  readonly #table: PublishedTable
  readonly #titles = new PackedTexts()
  /** rows by the terms of their titles */
  readonly #byTitle = new TermRows()
  /** by item id, of items that have or had a listing */
  readonly #names: (string | undefined)[] = []
  #named = 0
  /** item ids by the terms of their names */
  readonly #byName = new TermRows()
  /** of the search under way */
  readonly #rows = new RowBits()
  readonly #items = new RowBits()

  constructor(table: PublishedTable) {
    this.#table = table
  }

  titleOf(row: number): string {
    return this.#titles.get(row)!
  }

  /** Gives a row a title, null for none. @returns whether it had another */
  setTitle(row: number, title: string | null): boolean {
    const before = this.#titles.get(row)
    if (before === title) return false
    if (before !== null) this.#byTitle.delete(row, fold(before))
    this.#titles.set(row, title)
    if (title !== null) this.#byTitle.add(row, fold(title))
    return true
  }

  /** Tells the name of an item. @returns whether it had another */
  nameItem(itemId: number, name: string): boolean {
    const before = this.#names[itemId]
    if (before === name) return false
    if (before === undefined) this.#named += 1
    else this.#byName.delete(itemId, fold(before))
    this.#names[itemId] = name
    this.#byName.add(itemId, fold(name))
    return true
  }

  /** Rows that have every word of the search in the title or the item's name, ascending; none for an empty search. */
  find(search: string): Int32Array {
    const sought = parseQuery(search).parts.map(({ text }) => this.#soughtOf(text))
    const [first, ...others] = sought.sort((a, b) => a.cost - b.cost)
    if (!first) return NONE
    let rows = this.#allWith(first)
    for (const other of others) rows = this.#amongThose(rows, other)
    return rows
  }

  #soughtOf(part: string): Sought {
    const inTitles = this.#byTitle.infix(part)
    const inNames = this.#byName.infix(part)
    const listingsOfItem = this.#table.live.size / Math.max(1, this.#named)
    return { inTitles, inNames, cost: this.#byTitle.count(inTitles) + this.#byName.count(inNames) * listingsOfItem }
  }

  #allWith({ inTitles, inNames }: Sought): Int32Array {
    const rows = this.#rows.clear()
    this.#byTitle.collect(inTitles, rows)
    const items = this.#items.clear()
    this.#byName.collect(inNames, items)
    items.forEach((itemId) => rows.addRows(this.#table.ofItem(itemId)))
    return rows.toRows()
  }

  #amongThose(found: Int32Array, { inTitles, inNames }: Sought): Int32Array {
    const rows = this.#rows.clear()
    this.#byTitle.collect(inTitles, rows)
    const items = this.#items.clear()
    this.#byName.collect(inNames, items)
    const { itemId } = this.#table
    return found.filter((row) => rows.has(row) || items.has(itemId[row]!))
  }
}
