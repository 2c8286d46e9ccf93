// All published listings in memory as columns: a row per listing, used again when the listing leaves publication.
import { RowBits } from '#index/bits.ts'
import { grown } from '#index/columns.ts'
import { TextField } from '#index/field.ts'
import { Interned } from '#catalogue/snapshot/interned.ts'

/** A listing as the database has it. */
export interface ListingSource {
  id: number
  sellerId: number
  itemId: number
  /** 0 for none */
  gradeId: number
  /** the label whose prices it is compared with */
  labelId: number
  kurus: number
  /** '' for none */
  language: string
  publishedMs: number
  expiresMs: number
  /** 0 when it never was */
  highlightedMs: number
  title: string
}

const NONE = -1

export class PublishedTable {
  /** rows that hold a listing */
  readonly live = new RowBits()
  readonly languages = new Interned((language) => language)
  /** until when rows are highlighted; those that are not have no entry */
  readonly highlightedMs = new Map<number, number>()
  readonly #titles = new TextField(() => [], false)

  id = new Int32Array(0)
  sellerId = new Int32Array(0)
  itemId = new Int32Array(0)
  gradeId = new Int32Array(0)
  labelId = new Int32Array(0)
  kurus = new Int32Array(0)
  language = new Int32Array(0)
  publishedMs = new Float64Array(0)
  expiresMs = new Float64Array(0)
  /** price ÷ source_a price in hundredths, NaN for none */
  pcHundredths = new Float64Array(0)
  #rows = 0
  #spare: number[] = []
  /** row + 1 by listing id, 0 for none */
  #rowOfId = new Int32Array(0)
  /** listings of one item are chained: the first by item id + 1, then by row; 0 and -1 end a chain */
  #heads = new Int32Array(0)
  #next = new Int32Array(0)
  #before = new Int32Array(0)

  /** Row of a listing, -1 when it is not published. */
  rowOf(id: number): number {
    return (this.#rowOfId[id] ?? 0) - 1
  }

  titleOf(row: number): string {
    return this.#titles.texts[this.#titles.textOf(row)]!
  }

  /** Calls `visit` with the row of every published listing of an item. */
  eachOfItem(itemId: number, visit: (row: number) => void): void {
    for (let row = (this.#heads[itemId] ?? 0) - 1; row !== NONE; ) {
      const next = this.#next[row]!
      visit(row)
      row = next
    }
  }

  /** Puts a listing in, new or changed, and gives its row. */
  set(listing: ListingSource): number {
    let row = this.rowOf(listing.id)
    if (row < 0) {
      row = this.#spare.pop() ?? this.#rows++
      this.#reach(row, listing)
      this.#rowOfId[listing.id] = row + 1
    } else {
      this.#unchain(row)
      this.#heads = grown(this.#heads, listing.itemId + 1)
    }
    this.id[row] = listing.id
    this.sellerId[row] = listing.sellerId
    this.itemId[row] = listing.itemId
    this.gradeId[row] = listing.gradeId
    this.labelId[row] = listing.labelId
    this.kurus[row] = listing.kurus
    this.language[row] = this.languages.number(listing.language)
    this.publishedMs[row] = listing.publishedMs
    this.expiresMs[row] = listing.expiresMs
    this.#titles.set(row, listing.title)
    this.#chain(row, listing.itemId)
    this.live.add(row)
    return row
  }

  /** Takes a listing out; gives the row it had, -1 when there was none. */
  remove(id: number): number {
    const row = this.rowOf(id)
    if (row < 0) return row
    this.#unchain(row)
    this.#titles.set(row, null)
    this.highlightedMs.delete(row)
    this.live.delete(row)
    this.#rowOfId[id] = 0
    this.#spare.push(row)
    return row
  }

  #chain(row: number, itemId: number): void {
    const head = this.#heads[itemId]! - 1
    this.#next[row] = head
    this.#before[row] = NONE
    if (head !== NONE) this.#before[head] = row
    this.#heads[itemId] = row + 1
  }

  #unchain(row: number): void {
    const before = this.#before[row]!
    const next = this.#next[row]!
    if (before === NONE) this.#heads[this.itemId[row]!] = next + 1
    else this.#next[before] = next
    if (next !== NONE) this.#before[next] = before
  }

  #reach(row: number, listing: ListingSource): void {
    const length = row + 1
    this.id = grown(this.id, length)
    this.sellerId = grown(this.sellerId, length)
    this.itemId = grown(this.itemId, length)
    this.gradeId = grown(this.gradeId, length)
    this.labelId = grown(this.labelId, length)
    this.kurus = grown(this.kurus, length)
    this.language = grown(this.language, length)
    this.publishedMs = grown(this.publishedMs, length)
    this.expiresMs = grown(this.expiresMs, length)
    this.pcHundredths = grown(this.pcHundredths, length)
    this.#next = grown(this.#next, length)
    this.#before = grown(this.#before, length)
    this.#rowOfId = grown(this.#rowOfId, listing.id + 1)
    this.#heads = grown(this.#heads, listing.itemId + 1)
  }
}
