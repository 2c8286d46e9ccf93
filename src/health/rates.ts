// Whether exchange rates are complete and current enough to compare prices in different currencies.
import { sql } from 'kysely'
import type { Queryable } from '#db/schema.ts'
import type { PriceSource } from '#prices/reviews/list-sources.ts'
import { type Finding, finding } from './findings.ts'

/** Central banks publish rates on working days; the longest holidays take nine days. */
const MAX_AGE_DAYS = 14
/** A few old prices without a rate of their day are normal. */
const MAX_UNCHECKED_SHARE = 0.01

/** The finding about the rates of the currencies in which sources have prices; null without prices. */
export async function ratesFinding(on: Queryable, sources: readonly PriceSource[], now: Date): Promise<Finding | null> {
  const currencies = [...new Set(sources.filter(({ prices }) => prices > 0).map(({ currency }) => currency))]
  if (currencies.length === 0) return null
  const foreign = currencies.filter((currency) => currency !== 'TRY')
  const latest = await daysOf(on, foreign, now)
  const missing = foreign.filter((currency) => !latest.some((one) => one.currency === currency))
  const old = latest.filter(({ age }) => age > MAX_AGE_DAYS)
  const sum = (name: 'prices' | 'unchecked') => sources.reduce((total, source) => total + source[name], 0)
  const unchecked = sum('unchecked')
  const params = { currencies, ...(unchecked > 0 && { unchecked }) }
  const first = latest
    .map((one) => one.first)
    .sort()
    .at(-1)!
  const toSet = (missingCurrencies: readonly string[]) => missingCurrencies.map((currency) => `${currency}=...`).join(' ')
  if (missing.length > 0) return finding('rates', false, 'rates_missing', { ...params, currencies: missing, rates: toSet(missing) })
  if (old.length > 0) {
    const names = old.map(({ currency }) => currency)
    return finding('rates', false, 'rates_old', { ...params, old: names, age_days: Math.max(...old.map(({ age }) => age)), rates: toSet(names) })
  }
  if (unchecked === 0) return finding('rates', true, 'rates_known', params)
  return finding('rates', unchecked <= sum('prices') * MAX_UNCHECKED_SHARE, 'rates_unchecked', { ...params, first })
}

interface KnownDays {
  currency: string
  /** the first day with a rate */
  first: string
  /** days since the latest one */
  age: number
}

async function daysOf(on: Queryable, currencies: readonly string[], now: Date): Promise<KnownDays[]> {
  const { rows } = await sql<KnownDays>`
    select currency, to_char(min(day), 'YYYY-MM-DD') as first, (${now}::timestamptz at time zone 'UTC')::date - max(day) as age
    from rates where currency = any(${currencies}::text[]) and day <= ${now}::timestamptz at time zone 'UTC'
    group by currency order by array_position(${currencies}::text[], currency)`.execute(on)
  return rows
}
