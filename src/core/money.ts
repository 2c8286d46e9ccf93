// Exact money: decimal text to integer minor units (kuruş, cents) and back, never through a float.

/** Largest amount stored, in minor units: 9,999,999,999.99. */
export const MAX_MINOR = 999_999_999_999

/**
 * Reads a plain decimal with a point and at most two decimals, such as `168.56`.
 * @returns minor units, or null when the text is anything else (sign, comma, exponent, third decimal, too large)
 */
export function parseMinor(text: string): number | null {
  const match = /^(\d{1,10})(?:\.(\d{1,2}))?$/.exec(text)
  if (!match) return null
  return Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0'))
}

/**
 * Minor units of a JSON number, exact to the kuruş.
 * @returns null when it is not finite, negative, too large or has more than two decimals
 */
export function minorOfNumber(value: number): number | null {
  if (!Number.isFinite(value) || value < 0 || value > MAX_MINOR / 100) return null
  return parseMinor(String(value))
}

/** Decimal text for SQL, CSV and JSON: `16856` → `168.56`, `100` → `1.00`. */
export function minorToText(minor: number): string {
  const sign = minor < 0 ? '-' : ''
  const digits = String(Math.abs(minor)).padStart(3, '0')
  return `${sign}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

/** The JSON number of an amount; exact because every amount with two decimals below 2^53/100 prints as itself. */
export function minorToNumber(minor: number): number {
  return minor / 100
}

/**
 * Reads an amount as sources print it: `$1,049.00`, `0.58€`, `57,99 €`, `1.671,68 €`, `1,671.68€`.
 * The last of point and comma that is followed by one or two digits at the end is the decimal sign; a third decimal or
 * more is rounded half up to the cent (feeds print averages).
 * @returns minor units, or null when it is no amount
 */
export function parseSourceAmount(text: string): number | null {
  const bare = text.replace(/[\s\u00a0$€£¥₺]/g, '').replace(/^(USD|EUR|TRY|TL)/i, '').replace(/(USD|EUR|TRY|TL)$/i, '')
  if (!/^\d[\d.,]*$/.test(bare)) return null
  const lastPoint = bare.lastIndexOf('.')
  const lastComma = bare.lastIndexOf(',')
  const both = lastPoint >= 0 && lastComma >= 0
  const last = Math.max(lastPoint, lastComma)
  const sign = last >= 0 ? bare[last]! : ''
  const decimals = last >= 0 ? bare.length - last - 1 : 0
  const repeated = sign !== '' && bare.indexOf(sign) !== last
  // A lone comma before exactly three digits groups thousands; a lone point there is a decimal sign (`0.123`).
  const grouping = last >= 0 && !both && (repeated || (sign === ',' && decimals === 3))
  const whole = (grouping || last < 0 ? bare : bare.slice(0, last)).replace(/[.,]/g, '')
  const fraction = grouping || last < 0 ? '' : bare.slice(last + 1)
  if (!/^\d{1,10}$/.test(whole) || !/^\d*$/.test(fraction)) return null
  const minor = Number(whole) * 100 + Number(fraction.slice(0, 2).padEnd(2, '0')) + (Number(fraction[2] ?? '0') >= 5 ? 1 : 0)
  return minor <= MAX_MINOR ? minor : null
}
