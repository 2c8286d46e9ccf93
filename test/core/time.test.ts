// Local times: the same as Temporal's, at every moment and in every kind of zone, including around changes of the offset.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { localTime } from '#core/time.ts'

const ZONES = ['Europe/Istanbul', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'Pacific/Chatham', 'UTC']
const byTemporal = (ms: number, zone: string) =>
  Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).toString({ timeZoneName: 'never', smallestUnit: 'second' })

test('matches Temporal', () => {
  const moments = fc.integer({ min: Date.parse('1990-01-01T00:00:00Z'), max: Date.parse('2060-01-01T00:00:00Z') })
  fc.assert(
    fc.property(moments, fc.constantFrom(...ZONES), (ms, zone) => {
      expect(localTime(new Date(ms), zone)).toBe(byTemporal(ms, zone))
    }),
    { numRuns: 2_000 },
  )
})

test.each(ZONES)('%s, around each change of its UTC offset', (zone) => {
  let change = Temporal.Instant.from('2000-01-01T00:00:00Z').toZonedDateTimeISO(zone).getTimeZoneTransition('next')
  for (let count = 0; change && count < 40; count += 1) {
    for (const off of [-1_000, -1, 0, 1, 999, 1_000]) {
      const ms = change.epochMilliseconds + off
      expect(localTime(new Date(ms), zone)).toBe(byTemporal(ms, zone))
    }
    change = change.getTimeZoneTransition('next')
  }
})

test('has seconds and the offset of the zone', () => {
  expect(localTime(new Date('2026-11-21T08:40:59.999Z'), 'Europe/Istanbul')).toBe('2026-11-21T11:40:59+03:00')
  expect(localTime(new Date('2026-11-21T08:40:59Z'), 'UTC')).toBe('2026-11-21T08:40:59+00:00')
})
