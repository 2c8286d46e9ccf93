// Exact money: decimal text to integer minor units (kuruş, cents) and back, never through a float.

/** Largest amount stored, in minor units: 9,999,999,999.99. */
export const MAX_MINOR = 999_999_999_999
/** The same as a number. */
export const MAX_AMOUNT = MAX_MINOR / 100

const PLAIN_AMOUNT = /^\d{1,10}(?:\.\d{1,2})?$/

/**
 * Reads a plain decimal with a point and at most two decimals, such as `168.56`.
 * @returns minor units, or null if the text is anything else (sign, comma, exponent, third decimal, too large)
 */
export function parseMinor(text: string): number | null {
  if (!PLAIN_AMOUNT.test(text)) return null
  const point = text.indexOf('.')
  return point < 0 ? Number(text) * 100 : Number(text.slice(0, point)) * 100 + Number(text.slice(point + 1).padEnd(2, '0'))
}

/**
 * Minor units of a JSON number, exact to the kuruş.
 * @returns null if it is not finite, negative, too large or has more than two decimals
 */
export function minorOfNumber(value: number): number | null {
  if (!Number.isFinite(value) || value < 0 || value > MAX_AMOUNT) return null
  return parseMinor(String(value))
}

/** Decimal text for SQL, CSV and JSON: `16856` → `168.56`, `100` → `1.00`. */
export function minorToText(minor: number): string {
  const sign = minor < 0 ? '-' : ''
  const digits = String(Math.abs(minor)).padStart(3, '0')
  return `${sign}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

/** The JSON number of an amount; exact because every amount with two decimals below 2^53/100 is printed unchanged. */
export function minorToNumber(minor: number): number {
  return minor / 100
}

// Whole part plain or grouped in threes by one separator; then the other separator and the decimals. Grouping is tried first.
const SOURCE_AMOUNT = /^(?:([1-9]\d{0,2})((?: \d{3})+|(?:,\d{3})+|(?:\.\d{3})+)|(\d{1,10}))(?:([.,])(\d+))?$/
const CURRENCY_BEFORE = /^(?:[$€£¥₺]|USD|EUR|GBP|TRY|TL)\s*/i
const CURRENCY_AFTER = /(?:[$€£¥₺]|USD|EUR|GBP|TRY|TL)$/i

/**
 * Parses an amount as sources print it: `$1,049.00`, `0.58€`, `57,99 €`, `1.671,68 €`, `1,671.68€`.
 * A single comma before exactly three digits groups thousands (`1,234`); a single point there is a decimal point (`1.234`).
 * Further decimals are rounded half up to the cent, because feeds print averages.
 * @returns minor units, or null if the text is not an amount or is larger than `MAX_MINOR`
 */
export function parseSourceAmount(text: string): number | null {
  if (text.length > 40) return null
  const bare = text.trim().replace(/\s/g, ' ').replace(CURRENCY_BEFORE, '').replace(CURRENCY_AFTER, '').trimEnd()
  const match = SOURCE_AMOUNT.exec(bare)
  if (!match) return null
  const [, lead, groups = '', plain = '', decimalSign, decimals = ''] = match
  if (decimalSign !== undefined && groups.startsWith(decimalSign)) return null
  const pointed = groups.startsWith('.') && decimalSign === undefined && groups.length === 4
  const whole = lead === undefined || pointed ? (lead ?? plain) : lead + groups.replace(/\D/g, '')
  const fraction = pointed ? groups.slice(1) : decimals
  const cents = Number(fraction.slice(0, 2).padEnd(2, '0')) + (Number(fraction[2] ?? 0) >= 5 ? 1 : 0)
  const minor = Number(whole) * 100 + cents
  return minor <= MAX_MINOR ? minor : null
}

/** `value × times ÷ by`, exact, half a unit rounded up. @param by above 0 */
export function scaled(value: bigint, times: bigint, by: bigint): bigint {
  const doubled = 2n * value * times + by
  const quotient = doubled / (2n * by)
  return doubled < 0n && quotient * 2n * by !== doubled ? quotient - 1n : quotient
}

const HUNDRED_PERCENT = 1_000_000n
const HALF = HUNDRED_PERCENT / 2n

/**
 * Unit price × quantity minus the commission, half a kuruş rounded up.
 * @param commissionPercent 0 to 100, up to four decimals
 */
export function payoutKurus(unitPriceKurus: number, quantity: number, commissionPercent: number): number {
  const gross = BigInt(unitPriceKurus) * BigInt(quantity)
  return Number((gross * keptOf(commissionPercent) + HALF) / HUNDRED_PERCENT)
}

/** The smallest unit price with at least this payout; Infinity if the commission is 100 %. */
export function priceForPayout(payoutKurus: number, commissionPercent: number): number {
  const kept = keptOf(commissionPercent)
  const needed = BigInt(payoutKurus) * HUNDRED_PERCENT - HALF
  if (needed <= 0n) return 0
  return kept === 0n ? Infinity : Number((needed + kept - 1n) / kept)
}

/** The share after commission, in millionths. */
function keptOf(commissionPercent: number): bigint {
  return HUNDRED_PERCENT - BigInt(Math.round(commissionPercent * 10_000))
}
