// Converts the amounts of an imported row from another currency to lira, by the exchange rate of the day.
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { invalidFields, ServiceError } from '#core/errors.ts'
import { minorOfNumber, minorToNumber } from '#core/money.ts'
import { problem } from '#core/problems.ts'

const LIRA = 'TRY'
const AMOUNTS = ['price', 'min_offer_price'] as const

/** How the price of a row was converted. */
export interface Conversion {
  /** as stated in the row */
  amount: number
  currency: string
  /** lira for one unit of the currency */
  rate: number
  /** the day of the rate, `YYYY-MM-DD` */
  rate_day: string
  /** in lira, half a kuruş rounded up */
  price: number
}

/**
 * The row with its amounts in lira and without `currency`. A row in lira, or with an invalid `currency` or price, is returned unchanged, so that
 * validation rejects what is invalid.
 * @throws VALIDATION_ERROR if the currency has no rate
 */
export function inLira(catalogue: Pick<Catalogue, 'rates'>, row: unknown, at: Date): { fields: unknown; conversion: Conversion | null } {
  const unchanged = { fields: row, conversion: null }
  const { currency, ...others } = (row ?? {}) as Record<string, unknown>
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency) || currency === LIRA) return unchanged
  const { rates } = catalogue
  const atMs = at.getTime()
  const rate = rates.on(currency, atMs)
  if (rate === null) {
    const usable = rates.currencies().filter((code) => code === LIRA || rates.on(code, atMs) !== null)
    throw invalidFields([problem('currency', 'currency_rate', { values: usable.toSorted(), value: currency })])
  }
  const fields: Record<string, unknown> = { ...others }
  for (const column of AMOUNTS) {
    const value = others[column]
    const minor = typeof value === 'number' ? minorOfNumber(value) : null
    const kurus = minor === null ? null : rates.convert(minor, currency, LIRA, atMs)
    if (kurus !== null) fields[column] = minorToNumber(kurus)
  }
  const { price } = others
  if (typeof price !== 'number' || typeof fields.price !== 'number' || minorOfNumber(price) === null) return { fields, conversion: null }
  return { fields, conversion: { amount: price, currency, rate: rate.lira, rate_day: rate.day, price: fields.price } }
}

/** How the price of a refused row was converted; null if it was not. */
export function conversionOf(catalogue: Pick<Catalogue, 'rates'>, row: unknown, at: Date): Conversion | null {
  try {
    return inLira(catalogue, row, at).conversion
  } catch (error) {
    if (error instanceof ServiceError) return null
    throw error
  }
}
