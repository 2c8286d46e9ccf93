// Current prices of the items of a batch, as its transaction sees them: what new prices are compared with.
import { copyOut, int4At, minorAt, readBinaryCopy, timeAt } from '#db/copy.ts'
import type { Tx } from '#db/schema.ts'
import { grown } from '#index/columns.ts'
import type { PriceChange } from './payload.ts'

/** What `priceOf` reads from a binary COPY of the table. */
export const CURRENT_FIELDS = 'item_id, market::int4, label_id, price, updated_at'

/** Stands for the market in rows that tell into which item one was merged. */
const ALIAS = -1

/** The price that a row of `CURRENT_FIELDS` holds. The database only copies them: to compute there takes most of the time. */
export function priceOf(buffer: Buffer, offsets: Int32Array): PriceChange {
  return {
    itemId: int4At(buffer, offsets[0]!),
    market: int4At(buffer, offsets[1]!),
    labelId: int4At(buffer, offsets[2]!),
    minor: minorAt(buffer, offsets[3]!),
    updatedAtMs: timeAt(buffer, offsets[4]!),
  }
}

/** Where a row of the table lies, as it is written in SQL. */
function placeOf(buffer: Buffer, offset: number): string {
  return `(${int4At(buffer, offset) >>> 0},${(buffer[offset + 4]! << 8) | buffer[offset + 5]!})`
}

/** By position, as columns; those of an item follow one another by `#next`, as they are few. */
export class CurrentPrices {
  #size = 0
  readonly #first = new Map<number, number>()
  #next = new Int32Array(0)
  #market = new Uint8Array(0)
  #labelId = new Int32Array(0)
  minor = new Float64Array(0)
  updatedAtMs = new Float64Array(0)
  /** where the rows lie that were read; nothing for prices that are new */
  readonly places: string[] = []
  /** of the ids asked for those that were merged into another item, with that one's; its prices are not read then */
  readonly survivors = new Map<number, number>()

  /** Reads every price of the items, in whatever market; those of locked markets stay true, because writers take turns. */
  static async read(tx: Tx, itemIds: Iterable<number>): Promise<CurrentPrices> {
    const currents = new CurrentPrices()
    const ids = [...new Set(itemIds)].join(',')
    if (ids === '') return currents
    const chunks = copyOut(
      tx,
      `copy (
        select ${CURRENT_FIELDS}, ctid from prices where item_id = any('{${ids}}'::int4[])
        union all
        select old_id, ${ALIAS}, live_item(item_id), 0, 'epoch', ctid from item_aliases where old_id = any('{${ids}}'::int4[])
      ) to stdout (format binary)`,
    )
    await readBinaryCopy(chunks, (buffer, offsets) => {
      const price = priceOf(buffer, offsets)
      if (price.market === ALIAS) {
        currents.survivors.set(price.itemId, price.labelId)
        return
      }
      currents.places.push(placeOf(buffer, offsets[5]!))
      currents.#add(price)
    })
    return currents
  }

  /** Where to look for the prices of an item. */
  first(itemId: number): number {
    return this.#first.get(itemId) ?? -1
  }

  /** Position of the price under a market and a label among those of an item, -1 when there is none. */
  find(first: number, market: number, labelId: number): number {
    let at = first
    while (at >= 0 && (this.#labelId[at] !== labelId || this.#market[at] !== market)) at = this.#next[at]!
    return at
  }

  /** @param at position of the price whose place it takes, -1 for none */
  set(at: number, price: PriceChange): void {
    if (at < 0) return this.#add(price)
    this.minor[at] = price.minor
    this.updatedAtMs[at] = price.updatedAtMs
  }

  #add({ itemId, market, labelId, minor, updatedAtMs }: PriceChange): void {
    const at = this.#size
    if (at === this.minor.length) this.#reach(at + 1)
    this.#size += 1
    this.#next[at] = this.first(itemId)
    this.#first.set(itemId, at)
    this.#market[at] = market
    this.#labelId[at] = labelId
    this.minor[at] = minor
    this.updatedAtMs[at] = updatedAtMs
  }

  #reach(length: number): void {
    this.#next = grown(this.#next, length)
    this.#market = grown(this.#market, length)
    this.#labelId = grown(this.#labelId, length)
    this.minor = grown(this.minor, length)
    this.updatedAtMs = grown(this.updatedAtMs, length)
  }
}
