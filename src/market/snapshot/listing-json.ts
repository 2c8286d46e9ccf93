// Listings as JSON bytes; the parts that do not change between requests are cached within a budget.
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { ReadyBytes } from '#catalogue/snapshot/ready-bytes.ts'
import { listingSlug } from '../records/fields.ts'
import { explainListing } from './explain-listing.ts'
import type { ListingState } from './state.ts'

/** Parts added to the minimal listing (interface.md, "Listing (Plus)"). */
export interface Flags {
  item: boolean
  pc: boolean
  average: boolean
  lastSales: boolean
  details: boolean
  explain: boolean
}

const FIRST_BYTES = 64 * 1024
const COMMA = 44
const CLOSING = 125
/** Hundredths as JSON writes them after a whole number. */
const DECIMALS = Array.from({ length: 100 }, (_, hundredths) => String(hundredths / 100).slice(1))

export class ListingJson {
  readonly #heads: ReadyBytes
  readonly #items: ReadyBytes
  /** by item id: mean and last sales */
  readonly #sales: ReadyBytes
  #page = Buffer.allocUnsafe(FIRST_BYTES)
  #at = 0

  constructor(budgetMb: number, once?: boolean) {
    const bytes = budgetMb * 1024 * 1024
    // A tenth of the budget is reserved for whole responses (KEPT_LISTINGS_SHARE).
    this.#heads = new ReadyBytes(bytes * 0.46, once)
    this.#items = new ReadyBytes(bytes * 0.22, once)
    this.#sales = new ReadyBytes(bytes * 0.22, once)
  }

  /** Invalidates the minimal form of a row. */
  drop(row: number): void {
    this.#heads.drop(row)
  }

  /** Invalidates an item; `row` is its row in the catalogue. */
  dropItem(row: number): void {
    if (row >= 0) this.#items.drop(row)
  }

  /** Invalidates the sales of an item. */
  dropSales(itemId: number): void {
    this.#sales.drop(itemId)
  }

  /**
   * A JSON array of listings between a head and a tail.
   * @param more additional members of each listing, appended unchanged; null for none
   */
  page(
    state: ListingState,
    catalogue: Catalogue,
    rows: Int32Array,
    flags: Flags,
    head: string,
    tail: string,
    more: readonly string[] | null = null,
  ): Buffer {
    this.#at = 0
    this.#write(head)
    for (let i = 0; i < rows.length; i += 1) {
      if (i > 0) this.#sign(COMMA)
      this.#listing(state, catalogue, rows[i]!, flags, more?.[i])
    }
    this.#write(tail)
    return Buffer.from(this.#page.subarray(0, this.#at))
  }

  /** Entity tag of a page: depends on the shown fields of each row, their order, and `extra`. */
  tag(state: ListingState, catalogue: Catalogue, rows: Int32Array, flags: Flags, extra: number): string {
    const { table, sales } = state
    let high = 0x811c9dc5 ^ extra
    let low = 0x9747b28c ^ rows.length
    const add = (a: number, b: number) => {
      high = Math.imul(high ^ a, 0x01000193) + (high >>> 15)
      low = Math.imul(low ^ b, 0x85ebca6b) + (low >>> 13)
    }
    for (let i = 0; i < rows.length; i += 1) {
      const row = rows[i]!
      const itemId = table.itemId[row]!
      const head = this.#headOf(state, row)
      add(head.hashHigh(row), head.hashLow(row))
      add(table.kurus[row]!, table.kurus[row]!)
      if (flags.item) {
        const itemRow = catalogue.items.rowOf(itemId)
        const item = itemRow < 0 ? null : this.#itemOf(catalogue, itemRow, itemId)
        add(item ? item.hashHigh(itemRow) : 0, item ? item.hashLow(itemRow) : 0)
      }
      // For amounts beyond 32 bits only the high digits are lost.
      if (flags.pc) add(orNone(table.pcHundredths(row)), 1)
      if (flags.average) add(sales.averageKurus(itemId) ?? NONE, 2)
      if (flags.lastSales) {
        const last = this.#salesOf(state, itemId)
        add(last.hashHigh(itemId), last.hashLow(itemId))
      }
      if (flags.explain) for (const character of Buffer.from(explanation(state, catalogue, row))) add(character, 3)
    }
    // 31 bits each: V8 formats larger numbers several times slower, because they are not small integers.
    return `"${high >>> 1}-${low >>> 1}l"`
  }

  #listing(state: ListingState, catalogue: Catalogue, row: number, flags: Flags, more: string | undefined): void {
    const { table, sales } = state
    this.#ready(this.#headOf(state, row), row)
    const itemId = table.itemId[row]!
    const price = amount(table.kurus[row]!)
    if (flags.item) {
      this.#writeAscii(`${price},"item":`)
      const itemRow = catalogue.items.rowOf(itemId)
      if (itemRow < 0) this.#writeAscii('null')
      else this.#ready(this.#itemOf(catalogue, itemRow, itemId), itemRow)
    } else this.#writeAscii(price)
    if (flags.pc || flags.average) {
      const pc = table.pcHundredths(row)
      const average = sales.averageKurus(itemId)
      const first = flags.pc ? `,"pc_multiplier":${Number.isNaN(pc) ? 'null' : amount(pc)}` : ''
      this.#writeAscii(flags.average ? `${first},"average_price":${average === null ? 'null' : amount(average)}` : first)
    }
    if (flags.lastSales) this.#ready(this.#salesOf(state, itemId), itemId)
    if (flags.explain) this.#writeAscii(`,"explain":${explanation(state, catalogue, row)}`)
    if (more !== undefined) this.#write(more)
    this.#sign(CLOSING)
  }

  /** Cached bytes of a row up to its price. */
  #headOf({ table, queries }: ListingState, row: number): ReadyBytes {
    if (!this.#heads.has(row)) {
      const id = table.id[row]!
      const title = queries.texts.titleOf(row)
      const slug = listingSlug(title, id)
      this.#heads.put(row, `{"id":${id},"title":${JSON.stringify(title)},"slug":"${slug}","price":`)
    }
    return this.#heads
  }

  /** Cached bytes of a catalogue item, by its row. */
  #itemOf(catalogue: Catalogue, row: number, itemId: number): ReadyBytes {
    if (!this.#items.has(row)) this.#items.put(row, JSON.stringify(itemOf(catalogue, itemId)))
    return this.#items
  }

  /** Cached bytes of the last sales of an item. */
  #salesOf({ sales }: ListingState, itemId: number): ReadyBytes {
    if (!this.#sales.has(itemId)) this.#sales.put(itemId, `,"last_sales":${JSON.stringify(sales.last(itemId))}`)
    return this.#sales
  }

  #sign(character: number): void {
    this.#reach(1)
    this.#page[this.#at++] = character
  }

  #write(text: string): void {
    this.#reach(text.length * 3)
    this.#at += this.#page.write(text, this.#at, 'utf8')
  }

  /** Digits, signs and ASCII letters only, so that every character takes one byte. */
  #writeAscii(text: string): void {
    this.#reach(text.length)
    this.#at += this.#page.write(text, this.#at, 'latin1')
  }

  #ready(ready: ReadyBytes, row: number): void {
    this.#reach(ready.length(row))
    this.#at = ready.copy(row, this.#page, this.#at)
  }

  #reach(more: number): void {
    if (this.#at + more <= this.#page.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#page.length * 2, this.#at + more))
    this.#page.copy(larger, 0, 0, this.#at)
    this.#page = larger
  }
}

/** An amount in hundredths as JSON writes it; formatted by hand because fractions take several times as long. */
function amount(hundredths: number): string {
  const whole = Math.floor(hundredths / 100)
  return `${whole}${DECIMALS[hundredths - whole * 100]}`
}

/** Represents a missing amount in a tag; no real amount has this value. */
const NONE = -1

function orNone(value: number): number {
  return Number.isNaN(value) ? NONE : value
}

/** JSON that explains a row's figures; built on request because it is rarely used. */
function explanation(state: ListingState, catalogue: Catalogue, row: number): string {
  const { itemId, kurus } = state.table
  const listing = { itemId: itemId[row]!, labelId: state.table.kindOf(row).labelId, kurus: kurus[row]! }
  return JSON.stringify(explainListing(state, catalogue, listing))
}

/** The item as listings show it; null if it is not in the catalogue. */
export function itemOf({ items }: Catalogue, itemId: number) {
  const row = items.rowOf(itemId)
  if (row < 0) return null
  return {
    id: items.id[row]!,
    name: items.nameOf(row),
    code: items.codeOf(row),
    slug: items.texts.slug(row),
    genre: items.genreOf(row),
    game: items.gameOf(row),
  }
}
