// Current prices of the items of a batch, as its transaction sees them: what new prices are compared with.
import { copyOut, int4At, minorAt, readBinaryCopy, timeAt } from '#db/copy.ts'
import type { Tx } from '#db/schema.ts'
import type { PriceChange } from './payload.ts'

export interface Known {
  minor: number
  updatedAtMs: number
}

/** What `priceOf` reads from a binary COPY of the table. */
export const CURRENT_FIELDS = 'item_id, market::int4, label_id, price, updated_at'

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

export class CurrentPrices {
  /** few per item, so that a search through them is faster than a map with a key for each */
  readonly #byItem = new Map<number, PriceChange[]>()

  /** Reads every price of the items, in whatever market; those of locked markets stay true, because writers take turns. */
  static async read(tx: Tx, of: Iterable<{ itemId: number }>): Promise<CurrentPrices> {
    const currents = new CurrentPrices()
    for (const { itemId } of of) if (!currents.#byItem.has(itemId)) currents.#byItem.set(itemId, [])
    const ids = [...currents.#byItem.keys()].join(',')
    if (ids === '') return currents
    const chunks = copyOut(tx, `copy (select ${CURRENT_FIELDS} from prices where item_id = any('{${ids}}'::int4[])) to stdout (format binary)`)
    await readBinaryCopy(chunks, (buffer, offsets) => {
      const price = priceOf(buffer, offsets)
      currents.#byItem.get(price.itemId)!.push(price)
    })
    return currents
  }

  /** The price of an item under a market and a label; the item is one of those read. */
  get({ itemId }: { itemId: number }, market: number, labelId: number): Known | null {
    const prices = this.#byItem.get(itemId)!
    for (const price of prices) if (price.labelId === labelId && price.market === market) return price
    return null
  }

  /** Takes the place of the current price. */
  set(price: PriceChange): void {
    const prices = this.#byItem.get(price.itemId)!
    const at = prices.findIndex(({ market, labelId }) => market === price.market && labelId === price.labelId)
    if (at < 0) prices.push(price)
    else prices[at] = price
  }
}
