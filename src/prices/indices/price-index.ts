// A price index by month; the last published month is carried on until the next one is loaded.
import type { Queryable } from '#db/schema.ts'

export const CONSUMER_PRICES = 'TRY_CPI'

/** Levels of one index, in millionths. */
export class PriceIndex {
  readonly #months: readonly { month: string; micros: bigint }[]

  /** @param rows oldest first; values with exactly six decimals, as NUMERIC(16,6) prints them */
  constructor(rows: readonly { month: string; value: string }[]) {
    this.#months = rows.map(({ month, value }) => ({ month, micros: BigInt(value.replace('.', '')) }))
  }

  /** All published months of an index. */
  static async load(on: Queryable, name: string): Promise<PriceIndex> {
    const months = on.selectFrom('price_indices').select(['month', 'value']).where('name', '=', name)
    return new PriceIndex(await months.orderBy('month').execute())
  }

  /** The last published month; null if there is none. */
  get latest(): { month: string; micros: bigint } | null {
    return this.#months.at(-1) ?? null
  }

  /** The level of a month such as `2026-10`, or of the last one published before it; null before the first. */
  at(month: string): bigint | null {
    return this.#months.findLast((one) => one.month <= month)?.micros ?? null
  }
}
