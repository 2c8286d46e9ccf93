// Accepted time formats, local times in Plus endpoints and webhooks, and hours of the day.
import { Cache } from '#core/cache.ts'
import { MINUTE_MS } from '#core/duration.ts'

/** The range of all times and dates from clients and files: years of four digits, which every column and format supports. */
export const TIME_RANGE = { from: '1970-01-01', to: '9999-12-31' } as const
const EARLIEST_MS = 0
const LATEST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** Whether a time in epoch milliseconds is within the accepted range; NaN is not. */
export function isTimeInRange(ms: number): boolean {
  return ms >= EARLIEST_MS && ms <= LATEST_MS
}

/** The month after one written YYYY-MM; the month after 9999-12 has a year of five digits, as PostgreSQL writes it. */
export function monthAfter(month: string): string {
  const [year, number] = month.split('-').map(Number) as [number, number]
  return number === 12 ? `${year + 1}-01` : `${month.slice(0, 5)}${String(number + 1).padStart(2, '0')}`
}

/** The first moment of a month such as `2024-05`, in UTC. */
export function monthStart(month: string): Date {
  return new Date(`${month}-01T00:00:00Z`)
}

/** Time zones change their offset at quarters of an hour, so one lookup serves all times of a quarter. */
const QUARTER_MS = 15 * MINUTE_MS
const MAX_CACHED_OFFSETS = 50_000

const offsets = new Cache<string, { ms: number; text: string }>({ limit: MAX_CACHED_OFFSETS })

/** A time in the zone, to the second: `2026-11-21T11:40:59+03:00`. */
export function localTime(moment: Date, zone: string): string {
  const ms = moment.getTime()
  const offset = offsetAt(ms, zone)
  return `${new Date(ms + offset.ms).toISOString().slice(0, -5)}${offset.text}`
}

/** The day of a time in the zone, YYYY-MM-DD. */
export function localDay(moment: Date, zone: string): string {
  return localTime(moment, zone).slice(0, 10)
}

function offsetAt(ms: number, zone: string): { ms: number; text: string } {
  const quarter = Math.floor(ms / QUARTER_MS)
  const key = `${quarter} ${zone}`
  const cached = offsets.get(key)
  if (cached) return cached
  const local = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone)
  const offset = { ms: local.offsetNanoseconds / 1e6, text: local.offset.slice(0, 6) }
  offsets.set(key, offset)
  return offset
}

/** Minutes since midnight; `to` is excluded, and before `from` if the hours pass midnight. */
export interface QuietHours {
  from: number
  to: number
}

/** Reads quiet hours such as `22:00-07:00`; null if the text is not two different times of day. */
export function parseQuietHours(text: string): QuietHours | null {
  const [, ...parts] = /^([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? []
  if (parts.length === 0) return null
  const [fromHour, fromMinute, toHour, toMinute] = parts.map(Number) as [number, number, number, number]
  const hours = { from: fromHour * 60 + fromMinute, to: toHour * 60 + toMinute }
  return hours.from === hours.to ? null : hours
}
