// Local times as Plus endpoints and webhooks give them: ISO 8601 with the offset of the service's zone.

/** A moment in the zone, to the second: `2026-11-21T11:40:59+03:00` (decisions.md, "Money and time"). */
export function localTime(moment: Date, zone: string): string {
  const local = Temporal.Instant.fromEpochMilliseconds(moment.getTime()).toZonedDateTimeISO(zone)
  return local.toString({ timeZoneName: 'never', smallestUnit: 'second' })
}
