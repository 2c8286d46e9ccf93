// Local times as Plus endpoints and webhooks give them: ISO 8601 with the offset of the service's zone.

/** Zones change their offset at quarters of an hour, so one look-up serves all moments of a quarter. */
const QUARTER_MS = 15 * 60_000
const KEPT = 50_000

const offsets = new Map<string, { ms: number; text: string }>()

/** A moment in the zone, to the second: `2026-11-21T11:40:59+03:00` (decisions.md, "Money and time"). */
export function localTime(moment: Date, zone: string): string {
  const ms = moment.getTime()
  const offset = offsetAt(ms, zone)
  return `${new Date(ms + offset.ms).toISOString().slice(0, -5)}${offset.text}`
}

function offsetAt(ms: number, zone: string): { ms: number; text: string } {
  const quarter = Math.floor(ms / QUARTER_MS)
  const key = `${quarter} ${zone}`
  const known = offsets.get(key)
  if (known) return known
  const local = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone)
  const offset = { ms: local.offsetNanoseconds / 1e6, text: local.offset.slice(0, 6) }
  if (offsets.size >= KEPT) offsets.clear()
  offsets.set(key, offset)
  return offset
}
