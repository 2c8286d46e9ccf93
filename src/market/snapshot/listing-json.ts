// Listings of a page as JSON bytes: what does not change between requests is kept ready within a budget.
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { pageMemory } from '#http/page-memory.ts'
import { ReadyBytes } from '#catalogue/snapshot/ready-bytes.ts'
import { listingSlug } from '../store.ts'
import type { ListingState } from './state.ts'

/** What is added to the minimal listing (interface.md, "Listing (Plus)"). */
export interface Flags {
  item: boolean
  pc: boolean
  average: boolean
  lastSales: boolean
}

const FIRST_BYTES = 64 * 1024
const COMMA = 44
const CLOSING = 125

export class ListingJson {
  readonly #heads: ReadyBytes
  readonly #items: ReadyBytes
  /** by item id: mean and last sales */
  readonly #sales: ReadyBytes
  #page = Buffer.allocUnsafe(FIRST_BYTES)
  #at = 0

  constructor(budgetMb: number) {
    const bytes = budgetMb * 1024 * 1024
    this.#heads = new ReadyBytes(bytes * 0.5)
    this.#items = new ReadyBytes(bytes * 0.25)
    this.#sales = new ReadyBytes(bytes * 0.25)
  }

  /** The minimal form of a row has changed. */
  drop(row: number): void {
    this.#heads.drop(row)
  }

  /** An item has changed; `row` is its row in the catalogue. */
  dropItem(row: number): void {
    if (row >= 0) this.#items.drop(row)
  }

  /** The sales of an item have changed. */
  dropSales(itemId: number): void {
    this.#sales.drop(itemId)
  }

  /** A JSON array of listings between a head and a tail. */
  page(state: ListingState, catalogue: Catalogue, rows: Int32Array, flags: Flags, head: string, tail: string): Buffer {
    this.#at = 0
    this.#write(head)
    for (let i = 0; i < rows.length; i += 1) {
      if (i > 0) this.#sign(COMMA)
      this.#listing(state, catalogue, rows[i]!, flags)
    }
    this.#write(tail)
    const page = pageMemory(this.#at)
    this.#page.copy(page, 0, 0, this.#at)
    return page
  }

  #listing({ table, queries, sales }: ListingState, catalogue: Catalogue, row: number, flags: Flags): void {
    if (!this.#heads.has(row)) {
      const id = table.id[row]!
      const title = queries.texts.titleOf(row)
      const slug = listingSlug(title, id)
      this.#heads.put(row, `{"id":${id},"title":${JSON.stringify(title)},"slug":"${slug}","price":`)
    }
    this.#ready(this.#heads, row)
    this.#writeAscii(String(table.kurus[row]! / 100))
    const itemId = table.itemId[row]!
    if (flags.item) {
      this.#writeAscii(',"item":')
      this.#item(catalogue, itemId)
    }
    if (flags.pc) {
      const pc = table.pcHundredths[row]!
      this.#writeAscii(`,"pc_multiplier":${Number.isNaN(pc) ? 'null' : pc / 100}`)
    }
    if (flags.average) {
      const average = sales.averageKurus(itemId)
      this.#writeAscii(`,"average_price":${average === null ? 'null' : average / 100}`)
    }
    if (flags.lastSales) {
      if (!this.#sales.has(itemId)) this.#sales.put(itemId, `,"last_sales":${JSON.stringify(sales.last(itemId))}`)
      this.#ready(this.#sales, itemId)
    }
    this.#sign(CLOSING)
  }

  #item(catalogue: Catalogue, itemId: number): void {
    const row = catalogue.items.rowOf(itemId)
    if (row < 0) return this.#write('null')
    if (!this.#items.has(row)) this.#items.put(row, JSON.stringify(itemOf(catalogue, itemId)))
    this.#ready(this.#items, row)
  }

  #sign(character: number): void {
    this.#reach(1)
    this.#page[this.#at++] = character
  }

  #write(text: string): void {
    this.#reach(text.length * 3)
    this.#at += this.#page.write(text, this.#at, 'utf8')
  }

  /** Of digits, signs and plain letters: no character takes more than a byte. */
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

/** The item as listings show it; null when the catalogue does not have it. */
export function itemOf({ items }: Catalogue, itemId: number) {
  const row = items.rowOf(itemId)
  if (row < 0) return null
  return {
    id: itemId,
    name: items.nameOf(row),
    code: items.codeOf(row),
    slug: items.texts.slug(row),
    genre: items.genreOf(row),
    game: items.gameOf(row),
  }
}
