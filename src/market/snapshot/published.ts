// All published listings in memory as columns: one row per listing, reused after the listing is removed.
import { RowBits } from '#index/bits.ts'
import { fitting, withCapacity } from '#index/columns.ts'
import { Postings } from '#index/postings.ts'
import type { ColumnStore } from '#index/stored.ts'
import type { Utf8 } from '#index/utf8.ts'

/** A listing as read from the database. */
export interface ListingSource {
  id: number
  sellerId: number
  itemId: number
  /** 0 for none */
  gradeId: number
  /** label whose prices it is compared with */
  labelId: number
  kurus: number
  /** '' for none */
  language: string
  publishedMs: number
  expiresMs: number
  /** 0 if it was never highlighted */
  highlightedMs: number
  title: Utf8
}

/** Values that many listings share, stored once. */
export type Kind = Pick<ListingSource, 'gradeId' | 'labelId' | 'language'>

/** More labels than will ever exist; a pair of ids still fits into one exact number. */
const MAX_LABELS = 2 ** 26

export class PublishedTable {
  /** rows that hold a listing */
  readonly live = new RowBits()
  /** end of the highlight, by row; rows without one have no entry */
  readonly highlightedMs = new Map<number, number>()

  id = new Int32Array(0)
  sellerId = new Int32Array(0)
  itemId = new Int32Array(0)
  kurus = new Int32Array(0)
  /** number of each row's kind, and the kinds by number */
  kind: Uint8Array | Uint32Array | Float64Array = new Uint8Array(0)
  readonly kinds: Kind[] = []
  publishedMs = new Float64Array(0)
  /** Infinity for rows without a listing */
  expiresMs = new Float64Array(0)
  /** price ÷ source_a price in hundredths, plus 1; 0 for none */
  #pc: Uint32Array | Float64Array = new Uint32Array(0)
  /** by language, then by grade and label */
  readonly #kindNumbers = new Map<string, Map<number, number>>()
  #rows = 0
  #spare: number[] = []
  /** row + 1 by listing id; 0 for none */
  #rowOfId = new Int32Array(0)
  /** by item id */
  readonly #ofItem = new Postings()

  store(columns: ColumnStore): void {
    this.live.store(columns)
    this.id = columns.column(this.id)
    this.sellerId = columns.column(this.sellerId)
    this.itemId = columns.column(this.itemId)
    this.kurus = columns.column(this.kurus)
    this.kind = columns.column(this.kind)
    this.publishedMs = columns.column(this.publishedMs)
    this.expiresMs = columns.column(this.expiresMs)
    this.#pc = columns.column(this.#pc)
    this.#rowOfId = columns.column(this.#rowOfId)
    this.#ofItem.store(columns)
    this.#rows = columns.value(this.#rows)
    this.#spare = columns.numbers(this.#spare)
    const kinds = columns.value(this.kinds)
    const highlighted = columns.numbers(this.highlightedMs.keys())
    const until = columns.numbers(this.highlightedMs.values())
    if (!columns.reading) return
    for (const kind of kinds) this.#kindNumber(kind)
    for (const [i, row] of highlighted.entries()) this.highlightedMs.set(row, until[i]!)
  }

  /** Number of rows ever used, including free ones. */
  get rows(): number {
    return this.#rows
  }

  /** Reserves capacity for `rows` listings with ids up to `largestId`. */
  reserve(rows: number, largestId: number): void {
    this.#reach(rows, largestId)
  }

  /** Releases the spare capacity that loading has reserved. */
  pack(): void {
    this.#ofItem.pack()
  }

  /** Row of a listing; -1 if it is not published. */
  rowOf(id: number): number {
    return (this.#rowOfId[id] ?? 0) - 1
  }

  kindOf(row: number): Kind {
    return this.kinds[this.kind[row]!]!
  }

  /** Price ÷ source_a price in hundredths; NaN for none. */
  pcHundredths(row: number): number {
    const plusOne = this.#pc[row]!
    return plusOne === 0 ? Number.NaN : plusOne - 1
  }

  setPcHundredths(row: number, pc: number): void {
    const plusOne = Number.isNaN(pc) ? 0 : pc + 1
    this.#pc = fitting(this.#pc, plusOne)
    this.#pc[row] = plusOne
  }

  /** Rows of the published listings of an item; valid until the next change of the table. */
  ofItem(itemId: number): Int32Array {
    return this.#ofItem.view(itemId)
  }

  countOfItem(itemId: number): number {
    return this.#ofItem.length(itemId)
  }

  /** Adds or replaces a listing. @returns its row */
  set(listing: ListingSource): number {
    let row = this.rowOf(listing.id)
    if (row < 0) {
      row = this.#spare.pop() ?? this.#rows++
      if (row >= this.id.length || listing.id >= this.#rowOfId.length) this.#reach(row + 1, listing.id)
      this.#rowOfId[listing.id] = row + 1
    } else {
      this.#ofItem.remove(this.itemId[row]!, row)
    }
    this.id[row] = listing.id
    this.sellerId[row] = listing.sellerId
    this.itemId[row] = listing.itemId
    const kind = this.#kindNumber(listing)
    this.kind = fitting(this.kind, kind)
    this.kind[row] = kind
    this.kurus[row] = listing.kurus
    this.publishedMs[row] = listing.publishedMs
    this.expiresMs[row] = listing.expiresMs
    this.#ofItem.add(listing.itemId, row)
    this.live.add(row)
    return row
  }

  /** Removes a listing. @returns the row it had; -1 if there was none */
  remove(id: number): number {
    const row = this.rowOf(id)
    if (row < 0) return row
    this.#ofItem.remove(this.itemId[row]!, row)
    this.highlightedMs.delete(row)
    this.live.delete(row)
    this.expiresMs[row] = Infinity
    this.#rowOfId[id] = 0
    this.#spare.push(row)
    return row
  }

  #kindNumber({ gradeId, labelId, language }: Kind): number {
    let numbers = this.#kindNumbers.get(language)
    if (!numbers) this.#kindNumbers.set(language, (numbers = new Map()))
    const key = gradeId * MAX_LABELS + labelId
    const existing = numbers.get(key)
    if (existing !== undefined) return existing
    numbers.set(key, this.kinds.length)
    return this.kinds.push({ gradeId, labelId, language }) - 1
  }

  #reach(rows: number, id: number): void {
    this.id = withCapacity(this.id, rows)
    this.sellerId = withCapacity(this.sellerId, rows)
    this.itemId = withCapacity(this.itemId, rows)
    this.kind = withCapacity(this.kind, rows)
    this.kurus = withCapacity(this.kurus, rows)
    this.publishedMs = withCapacity(this.publishedMs, rows)
    this.expiresMs = withCapacity(this.expiresMs, rows, Infinity)
    this.#pc = withCapacity(this.#pc, rows)
    this.#rowOfId = withCapacity(this.#rowOfId, id + 1)
  }
}
