// The time zone of the pages: the service's where the pages set it, as in statements and the API, otherwise the reader's.
import { computed, signal } from '@preact/signals'

/** IANA name; undefined for the reader's own. */
export const timeZone = signal<string | undefined>(undefined)

const DAY_MS = 86_400_000
// The Swedish format is that of ISO 8601, with a space in place of the T.
const fields = computed(() => new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'short', timeZone: timeZone.value }))

/** A time as the value of a local date and time field, to the minute. */
export function localOf(iso: string): string {
  return fields.value.format(new Date(iso)).replace(' ', 'T')
}

/** The time that a local date and time field names, such as `2026-11-22T09:30`. */
export function instantOf(local: string): Date {
  const asUtc = Date.parse(`${local}Z`)
  const offsetAt = (ms: number) => Date.parse(`${localOf(new Date(ms).toISOString())}Z`) - ms
  // The offset before and after a change of the clocks differs, so it is read again at the result.
  return new Date(asUtc - offsetAt(asUtc - offsetAt(asUtc)))
}

/** Midnight of a calendar day, such as `2026-11-22`, or of the day `plus` days later. */
export function startOfDay(day: string, plus: number): Date {
  const later = new Date(Date.parse(`${day}T00:00Z`) + plus * DAY_MS)
  return instantOf(later.toISOString().slice(0, 16))
}
