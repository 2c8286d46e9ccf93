// The four moneys of profit: each amount is converted at the rate of its own day, and for real lira by consumer prices, rounded once.
import { scaled } from '#core/money.ts'
import { namedValues } from '#core/named-values.ts'
import { Type } from '#core/input.ts'
import { CONSUMER_PRICES, PriceIndex } from '#prices/indices/price-index.ts'
import type { Rates } from '#prices/rates/rates.ts'
import type { Queryable } from '#db/schema.ts'

const MONEYS = namedValues('ProfitCurrency', ['TRY', 'USD', 'EUR', 'TRY_REAL'])
export type Money = (typeof MONEYS)[number]
/** Moneys in one answer. */
export const MOST_MONEYS = MONEYS.length

const description = '`TRY`, `USD`, `EUR`, or `TRY_REAL`: lira of the last month with published consumer prices'

/** The parameter of the money in which amounts are stated. */
export const CurrencyField = Type.Optional(Type.Enum([...MONEYS], { default: 'TRY', description }))
/** The parameter of the moneys in which a profit is stated, too. */
export const MoneysField = Type.Optional(
  Type.Array(Type.Enum([...MONEYS], { description }), {
    maxItems: MOST_MONEYS,
    description: 'Also state the profit in these moneys, from the same reading of the records',
  }),
)
export const CurrencySchema = Type.Enum([...MONEYS], { description })

export interface Conversion {
  money: Money
  /** the month whose lira `TRY_REAL` is stated in; null for other moneys and without an index */
  cpiMonth: string | null
  /** An amount of a day; half a minor unit rounded up. Null without a rate or an index of that day or earlier. */
  convert: (minor: bigint, currency: string, day: string) => bigint | null
}

/** The conversion to one money; consumer prices are read if it needs them. */
export async function conversionTo(on: Queryable, rates: Rates, money: Money): Promise<Conversion> {
  return conversionBy(rates, money, money === 'TRY_REAL' ? await PriceIndex.load(on, CONSUMER_PRICES) : null)
}

/** The same by a given index, which real lira need; each currency and day is looked up once. */
export function conversionBy(rates: Rates, money: Money, index: PriceIndex | null): Conversion {
  const latest = index?.latest ?? null
  const target = money === 'TRY_REAL' ? 'TRY' : money
  const factorsOf = new Map<string, Map<string, { times: bigint; by: bigint } | null>>()
  const factorOf = (currency: string, day: string) => {
    const atMs = Date.parse(day)
    const from = currency === target ? 1 : rates.microLira(currency, atMs)
    const to = currency === target ? 1 : rates.microLira(target, atMs)
    const level = index ? index.at(day.slice(0, 7)) : 1n
    const newest = index ? (latest?.micros ?? null) : 1n
    if (from === null || to === null || level === null || newest === null) return null
    return { times: BigInt(from) * newest, by: BigInt(to) * level }
  }
  return {
    money,
    cpiMonth: latest?.month ?? null,
    convert(minor, currency, day) {
      // Most amounts are already in the money.
      if (currency === target && index === null) return minor
      let factors = factorsOf.get(currency)
      if (!factors) factorsOf.set(currency, (factors = new Map()))
      let factor = factors.get(day)
      if (factor === undefined) factors.set(day, (factor = factorOf(currency, day)))
      return factor && (factor.times === factor.by ? minor : scaled(minor, factor.times, factor.by))
    },
  }
}
