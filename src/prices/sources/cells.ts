// Parses amounts and times from the cells of price files: a value, nothing, or the reason why it is unusable.
import { DAY_MS } from '#core/duration.ts'
import { MAX_AMOUNT, parseSourceAmount } from '#core/money.ts'
import { type Problem, problem } from '#core/problems.ts'
import { isTimeInRange, TIME_RANGE } from '#core/time.ts'

/** A value, null for an empty cell, or what is wrong with the column. */
export type Cell = number | null | Problem

const NO_VALUE = new Set(['', '-', 'n/a', 'null'])
export const EARLIEST_MS = Date.UTC(1996, 0, 1)
const DAY = /^(\d{4})([-/])(\d\d)\2(\d\d)$/
const INSTANT = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d):?(\d\d)?$/
const LOCAL_INSTANT = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/

/** A price in minor units; zero and negative prices are rejected. More than two decimals are rounded half up. */
export function priceOf(cell: unknown, column: string): Cell {
  const text = textOf(cell)
  if (NO_VALUE.has(text.toLowerCase())) return null
  const minor = parseSourceAmount(text)
  if (minor === 0 || text.startsWith('-')) return problem(column, 'number', { above: 0 })
  return minor ?? problem(column, 'number', { max: MAX_AMOUNT, value: truncate(text) })
}

/** As `priceOf`, for columns in which a source writes 0 for no price. */
export function nonZeroPrice(cell: unknown, column: string): Cell {
  return parseSourceAmount(textOf(cell)) === 0 ? null : priceOf(cell, column)
}

/** A figure beside a price, in minor units; null if the cell has no amount above 0, because a bad figure must not reject the price. */
export function figureOf(cell: unknown): number | null {
  return parseSourceAmount(textOf(cell)) || null
}

/** A single separator before exactly three digits may group thousands or separate decimals, depending on the country. */
export const TWO_READINGS = /^[1-9]\d{0,2}[.,]\d{3}$/
const OF_AMOUNT = /[\d.,+–—-]/
const SIGNS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    $: ['USD', 'CAD', 'AUD', 'NZD', 'SGD', 'HKD', 'MXN'],
    '€': ['EUR'],
    '£': ['GBP'],
    '¥': ['JPY', 'CNY'],
    '₺': ['TRY'],
    tl: ['TRY'],
    r$: ['BRL'],
    us$: ['USD'],
  }),
)

/**
 * An amount of a list in minor units, in its currency. The sign of another currency is rejected, and so is an ambiguous amount unless `decimal`
 * states how the list writes decimals.
 */
export function amountIn(cell: unknown, column: string, { currency, decimal }: { currency?: string; decimal?: string }): Cell {
  if (typeof cell === 'number') return priceOf(cell, column)
  const text = textOf(cell)
  const value = truncate(text)
  const noAmount = problem(column, 'number', { max: MAX_AMOUNT, value })
  if (!/\d/.test(text)) return NO_VALUE.has(text.toLowerCase()) ? null : noAmount
  const ofAmount = [...text].map((character) => OF_AMOUNT.test(character))
  const [first, end] = [ofAmount.indexOf(true), ofAmount.lastIndexOf(true) + 1]
  const bare = [...text].slice(first, end).join('')
  for (const sign of [[...text].slice(0, first), [...text].slice(end)]) {
    const name = sign.join('').trim().toLowerCase()
    if (name === '') continue
    const currencies = SIGNS.get(name) ?? [name.toUpperCase()]
    if (!SIGNS.has(name) && !/^[a-z]{3}$/.test(name)) return noAmount
    if (currency !== undefined && !currencies.includes(currency)) return problem(column, 'other_currency', { currency, value })
  }
  if (decimal === undefined) {
    if (TWO_READINGS.test(bare)) return problem(column, 'two_readings', { value })
    return priceOf(bare, column)
  }
  const grouping = decimal === ',' ? '.' : ','
  const [whole, ...decimals] = bare.split(decimal)
  const plain = whole!.replaceAll(grouping, ' ').replaceAll('\u00a0', ' ').replaceAll('\u202f', ' ').replaceAll("'", ' ')
  if (decimals.length > 1 || decimals[0]?.includes(grouping)) return noAmount
  const read = priceOf([plain, ...decimals].join('.'), column)
  return isProblem(read) && 'value' in read.params ? noAmount : read
}

/** A day, or a time with or without a zone (then UTC), as epoch milliseconds. */
export function timeOf(cell: unknown, column: string): Cell {
  const text = textOf(cell)
  if (DAY.test(text)) return dayOf(text, column)
  const time = instantOf(LOCAL_INSTANT.test(text) ? `${text}Z` : text, column)
  return isProblem(time) && time.rule === 'time' ? problem(column, 'day_or_time', { value: truncate(text) }) : time
}

/** The same day and time in the latest year in which its day is not after that of `recordedMs`; a problem of the column if that year lacks the day. */
export function inLatestYear(ms: number, recordedMs: number, column: string): Cell {
  const date = new Date(ms)
  const [month, day] = [date.getUTCMonth(), date.getUTCDate()]
  date.setUTCFullYear(new Date(recordedMs).getUTCFullYear(), month, day)
  if (date.getTime() >= (Math.floor(recordedMs / DAY_MS) + 1) * DAY_MS) date.setUTCFullYear(date.getUTCFullYear() - 1, month, day)
  return date.getUTCDate() === day ? date.getTime() : problem(column, 'date', { value: date.toISOString().slice(0, 10) })
}

/** A calendar day, `2025-02-22` or `2025/02/22`, as the epoch milliseconds of its start in UTC. */
export function dayOf(cell: unknown, column: string): Cell {
  const text = textOf(cell)
  if (text === '') return null
  const [, year, , month, day] = DAY.exec(text) ?? []
  const ms = year === undefined ? null : dayMs(year, month!, day!)
  return ms === null ? problem(column, 'date', { value: truncate(text) }) : fromEarliest(ms, column)
}

// A feed repeats the same time on thousands of rows, so the last one is cached.
let lastInstant: { text: string; column: string; ms: Cell } | null = null

/** A time with a zone, such as `2026-07-23T15:32:16.011Z` or `2026-06-29T02:55:18+0200`, as epoch milliseconds. */
export function instantOf(cell: unknown, column: string): Cell {
  const text = textOf(cell)
  if (lastInstant?.text !== text || lastInstant.column !== column) lastInstant = { text, column, ms: readInstant(text, column) }
  return lastInstant.ms
}

function readInstant(text: string, column: string): Cell {
  if (text === '') return null
  const [, year, month, day, time, zone, zoneMinutes] = INSTANT.exec(text) ?? []
  const wrong = problem(column, 'time', { value: truncate(text) })
  if (year === undefined || dayMs(year, month!, day!) === null) return wrong
  if ((zone === 'Z') !== (zoneMinutes === undefined)) return wrong
  const ms = Date.parse(`${year}-${month}-${day}T${time}${zone}${zone === 'Z' ? '' : `:${zoneMinutes}`}`)
  return Number.isNaN(ms) ? wrong : fromEarliest(ms, column)
}

/** Text of a cell of a CSV or of a value of JSON, trimmed; null and absent values read as empty. */
export function textOf(cell: unknown): string {
  if (typeof cell === 'string') return cell.trim()
  if (typeof cell === 'number') return String(cell)
  return cell === null || cell === undefined ? '' : JSON.stringify(cell)
}

function isProblem(cell: Cell): cell is Problem {
  return typeof cell === 'object' && cell !== null
}

/** A cell's text for a message, shortened. */
export function truncate(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}

function dayMs(year: string, month: string, day: string): number | null {
  const ms = Date.UTC(Number(year), Number(month) - 1, Number(day))
  const date = new Date(ms)
  // Date.UTC turns February 30 into a day in March; such a day is invalid.
  return date.getUTCDate() === Number(day) && date.getUTCMonth() === Number(month) - 1 ? ms : null
}

function fromEarliest(ms: number, column: string): Cell {
  if (ms < EARLIEST_MS) return problem(column, 'not_before', { from: '1996-01-01' })
  return isTimeInRange(ms) ? ms : problem(column, 'date', TIME_RANGE)
}
