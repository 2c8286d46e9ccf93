// Exchange rates loaded by operators, to compare prices in different currencies and to convert price lists.
import { DAY_MS } from '#core/duration.ts'
import type { Queryable } from '#db/schema.ts'

/** Rates have up to six decimals: in millionths of a lira they are whole numbers. */
const MICROS = 1_000_000

interface Rate {
  dayMs: number
  /** millionths of a lira for one unit */
  microLira: number
}

/** Rates of all currencies by day, in memory. */
export class Rates {
  /** by currency, oldest first */
  readonly #byCurrency = new Map<string, Rate[]>()

  static async load(db: Queryable): Promise<Rates> {
    const rates = new Rates()
    const rows = await db.selectFrom('rates').selectAll().orderBy('day').execute()
    for (const { currency, day, try_rate } of rows) rates.add(currency, Date.parse(day), Number(try_rate))
    return rates
  }

  /** The rates at a given time: the last known one of each currency. */
  static async loadAt(db: Queryable, atMs: number): Promise<Rates> {
    const rates = new Rates()
    const day = new Date(atMs).toISOString().slice(0, 10)
    const latest = db.selectFrom('rates').selectAll().distinctOn('currency').where('day', '<=', day)
    for (const { currency, day, try_rate } of await latest.orderBy('currency').orderBy('day', 'desc').execute()) {
      rates.add(currency, Date.parse(day), Number(try_rate))
    }
    return rates
  }

  /**
   * Adds a rate; rates must be added in the order of days.
   * @param lira for one unit, up to six decimals
   */
  add(currency: string, dayMs: number, lira: number): void {
    const rate = { dayMs, microLira: Math.round(lira * MICROS) }
    const ofCurrency = this.#byCurrency.get(currency)
    if (ofCurrency) ofCurrency.push(rate)
    else this.#byCurrency.set(currency, [rate])
  }

  /** Codes of the currencies with rates; the lira needs none. */
  currencies(): string[] {
    return [...this.#byCurrency.keys(), 'TRY']
  }

  /**
   * An amount in another currency, by the last rates known on that day; null if there are none. Exact, half a minor unit rounded up; an amount
   * above 0 stays above 0.
   * @param minor whole minor units, not negative
   */
  convert(minor: number, from: string, to: string, atMs: number): number | null {
    if (from === to) return minor
    const [a, b] = [this.microLira(from, atMs), this.microLira(to, atMs)]
    return a === null || b === null ? null : Math.max(Math.min(minor, 1), multipliedAndDivided(minor, a, b))
  }

  /** Millionths of a lira for one unit, a whole number, by the last rate known on that day; null if there is none. */
  microLira(currency: string, atMs: number): number | null {
    return currency === 'TRY' ? MICROS : (this.#rateOn(currency, atMs)?.microLira ?? null)
  }

  /** The last rate known on that day: Turkish lira for one unit, and its own day as `YYYY-MM-DD`; null if there is none. */
  on(currency: string, atMs: number): { lira: number; day: string } | null {
    const rate = this.#rateOn(currency, atMs)
    return rate ? { lira: rate.microLira / MICROS, day: new Date(rate.dayMs).toISOString().slice(0, 10) } : null
  }

  #rateOn(currency: string, atMs: number): Rate | undefined {
    const rates = this.#byCurrency.get(currency) ?? []
    const dayMs = Math.floor(atMs / DAY_MS) * DAY_MS
    let low = 0
    let high = rates.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (rates[middle]!.dayMs <= dayMs) low = middle + 1
      else high = middle
    }
    return rates[low - 1]
  }
}

/** `value × factor ÷ divisor` of whole numbers, half rounded up. */
function multipliedAndDivided(value: number, factor: number, divisor: number): number {
  const product = value * factor
  if (product <= Number.MAX_SAFE_INTEGER) {
    // Exact: whole numbers up to 2^53 have exact products and remainders, and the floor of their quotient is never off.
    const quotient = Math.floor(product / divisor)
    return (product - quotient * divisor) * 2 >= divisor ? quotient + 1 : quotient
  }
  return Number((2n * BigInt(value) * BigInt(factor) + BigInt(divisor)) / (2n * BigInt(divisor)))
}
