// Rules that hold a price, each on its own: what each one holds, what it accepts, and which of several gives the reason.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readConfig } from '#config.ts'
import { type Candidate, holdOf, type PriceRules } from '#prices/evidence/hold.ts'
import type { LastPrice } from '#prices/evidence/jumps.ts'
import type { Figures } from '#prices/evidence/evidence-types.ts'

const NOW = Date.parse('2026-11-21T12:00:00Z')
const HOUR = 3_600_000
const NO_FIGURES: Figures = { avg1: null, avg7: null, avg30: null, low: null, mid: null, high: null, samples: null }

function held(candidate: Partial<Candidate>, rules: Partial<PriceRules> = {}) {
  const whole = { minor: 1000, updatedAtMs: NOW, figures: null, last: null, noiseMinor: 50, ...candidate }
  const hold = holdOf(whole, { ...readConfig({}).priceRules, ...rules }, NOW)
  return hold && [hold.rule, hold.compared, hold.timesOff]
}

const after = (minor: number, last: Partial<LastPrice> = {}): LastPrice => ({
  minor,
  confirmedAtMs: NOW - 24 * HOUR,
  state: 'trusted',
  flags: 0,
  figures: null,
  ...last,
})

test('a first price without other evidence passes', () => {
  expect(held({})).toBe(null)
})

test('a jump is held starting at the factor, up and down', () => {
  expect(held({ minor: 4999, last: after(1000) })).toBe(null)
  expect(held({ minor: 5000, last: after(1000) })).toEqual(['jump', 1000, 5])
  expect(held({ minor: 201, last: after(1000) })).toBe(null)
  expect(held({ minor: 200, last: after(1000) })).toEqual(['jump', 1000, 5])
  expect(held({ minor: 5000, last: after(1000) }, { holdFactor: 6 })).toBe(null)
})

test('a jump smaller than the noise passes, whatever the factor', () => {
  expect(held({ minor: 51, last: after(2) })).toBe(null)
  expect(held({ minor: 52, last: after(2) })).toEqual(['jump', 2, 26])
})

test('a disputed or stale price holds no other, and one unconfirmed for long holds none that has figures', () => {
  expect(held({ minor: 9000, last: after(1000, { state: 'disputed' }) })).toBe(null)
  expect(held({ minor: 9000, last: after(1000, { state: 'stale' }) })).toBe(null)
  const long = after(1000, { confirmedAtMs: NOW - 91 * 24 * HOUR })
  expect(held({ minor: 9000, last: long, figures: { ...NO_FIGURES, low: 8000 } })).toBe(null)
  expect(held({ minor: 9000, last: long })).toEqual(['jump', 1000, 9])
})

test('a jump that its averages confirm is not a certain mistake', () => {
  const last = after(1000, { figures: { ...NO_FIGURES, avg7: 1000, avg30: 1000 } })
  const figures = { ...NO_FIGURES, avg7: 4000, avg30: 1500 }
  expect(held({ minor: 5000, last, figures })).toBe(null)
  expect(held({ minor: 5000, last, figures: { ...figures, avg7: 1100 } })).toEqual(['jump', 1000, 5])
  expect(held({ minor: 5000, last, figures: { ...figures, avg30: 5000 } })).toEqual(['jump', 1000, 5])
})

test('a price that contradicts all its own averages is held, and compared with the nearest', () => {
  const figures = { ...NO_FIGURES, avg1: 900, avg7: 1000, avg30: 800 }
  expect(held({ minor: 5000, figures })).toEqual(['slip', 1000, 5])
  expect(held({ minor: 4999, figures })).toBe(null)
  expect(held({ minor: 5000, figures: { ...figures, avg1: 5200 } })).toBe(null)
  expect(held({ minor: 5000, figures: { ...NO_FIGURES, avg1: 0 } })).toBe(null)
})

test('a date in the future is held, with precedence over a jump', () => {
  expect(held({ updatedAtMs: NOW + 24 * HOUR })).toBe(null)
  expect(held({ updatedAtMs: NOW + 24 * HOUR + 1, last: after(1) })).toEqual(['future_date', null, null])
})

test('only the enabled rules apply', () => {
  const all = { last: after(1), updatedAtMs: NOW + 99 * HOUR }
  expect(held(all, { only: ['jump'] })).toEqual(['jump', 1, 1000])
  expect(held(all, { only: [] })).toBe(null)
})

test('jumps are symmetric, and a larger factor never holds more', () => {
  const minor = fc.integer({ min: 1, max: 999_999_999_999 })
  fc.assert(
    fc.property(minor, minor, fc.double({ min: 1.1, max: 100, noNaN: true }), (a, b, holdFactor) => {
      const up = held({ minor: a, last: after(b) }, { holdFactor })
      expect(held({ minor: b, last: after(a) }, { holdFactor }) === null).toBe(up === null)
      if (up === null) expect(held({ minor: a, last: after(b) }, { holdFactor: holdFactor * 1.01 })).toBe(null)
    }),
  )
})
