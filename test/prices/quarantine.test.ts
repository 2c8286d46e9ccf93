// The rules that hold prices, on their own: what each holds, what it lets pass, and which of several gives the reason.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Candidate, holdOf, type PriceRules } from '#prices/quarantine.ts'
import { Rates } from '#prices/rates.ts'

const NOW = Date.parse('2026-11-21T12:00:00Z')
const HOUR = 3_600_000
const RULES: PriceRules = {
  holdFactor: 5,
  gradedShare: 1,
  futureHours: 24,
  currencies: { service: 'TRY', source_a: 'USD', source_b: 'EUR', source_c: 'USD' },
}

function held(candidate: Partial<Candidate>, rules: Partial<PriceRules> = {}) {
  const whole = { minor: 1000, updatedAtMs: NOW, lastMinor: null, otherMinors: () => [], nearMintMinor: () => null, ...candidate }
  const hold = holdOf(whole, { ...RULES, ...rules }, NOW)
  return hold && [hold.rule, hold.compared, hold.timesOff]
}

test('a first price with nothing beside it passes', () => {
  expect(held({})).toBe(null)
})

test('a jump is held from the factor on, up and down', () => {
  expect(held({ minor: 4999, lastMinor: 1000 })).toBe(null)
  expect(held({ minor: 5000, lastMinor: 1000 })).toEqual(['jump', 1000, 5])
  expect(held({ minor: 201, lastMinor: 1000 })).toBe(null)
  expect(held({ minor: 200, lastMinor: 1000 })).toEqual(['jump', 1000, 5])
  expect(held({ minor: 5000, lastMinor: 1000 }, { holdFactor: 6 })).toBe(null)
})

test('a price far from every other source is held, and compared with the nearest', () => {
  expect(held({ otherMinors: () => [5000] })).toEqual(['disagreement', 5000, 5])
  expect(held({ otherMinors: () => [9000, 5000, 100] })).toEqual(['disagreement', 5000, 5])
  expect(held({ otherMinors: () => [9000, 4999] })).toBe(null)
})

test('a PSA 10 below Near Mint is held', () => {
  expect(held({ nearMintMinor: () => 1000 })).toBe(null)
  expect(held({ nearMintMinor: () => 1001 })).toEqual(['grade_order', 1001, 1.001])
  expect(held({ nearMintMinor: () => 1900 }, { gradedShare: 0.5 })).toBe(null)
})

test('a date in the future is held, and outweighs a jump', () => {
  expect(held({ updatedAtMs: NOW + 24 * HOUR })).toBe(null)
  expect(held({ updatedAtMs: NOW + 24 * HOUR + 1, lastMinor: 1 })).toEqual(['future_date', null, null])
})

test('only the named rules apply', () => {
  const all = { lastMinor: 1, otherMinors: () => [1], nearMintMinor: () => 9999, updatedAtMs: NOW + 99 * HOUR }
  expect(held(all, { only: ['grade_order'] })).toEqual(['grade_order', 9999, 9.999])
  expect(held(all, { only: [] })).toBe(null)
})

test('a jump is the same upwards and downwards, and a larger factor never holds more', () => {
  const minor = fc.integer({ min: 1, max: 999_999_999_999 })
  fc.assert(
    fc.property(minor, minor, fc.double({ min: 1.1, max: 100, noNaN: true }), (a, b, holdFactor) => {
      const up = held({ minor: a, lastMinor: b }, { holdFactor })
      expect(held({ minor: b, lastMinor: a }, { holdFactor }) === null).toBe(up === null)
      if (up === null) expect(held({ minor: a, lastMinor: b }, { holdFactor: holdFactor * 1.01 })).toBe(null)
    }),
  )
})

test('rates convert by the last one known on the day, and only where there is one', () => {
  const rates = new Rates()
  rates.add('USD', Date.parse('2026-11-01'), 40)
  rates.add('USD', Date.parse('2026-11-10'), 42)
  rates.add('EUR', Date.parse('2026-11-05'), 50)
  const at = (day: string) => Date.parse(`${day}T13:00:00Z`)
  expect(rates.convert(100, 'USD', 'TRY', at('2026-11-09'))).toBe(4000)
  expect(rates.convert(100, 'USD', 'TRY', at('2026-11-10'))).toBe(4200)
  expect(rates.convert(100, 'USD', 'TRY', at('2026-10-31'))).toBe(null)
  expect(rates.convert(1000, 'USD', 'EUR', at('2026-11-04'))).toBe(null)
  expect(rates.convert(1000, 'USD', 'EUR', at('2026-11-06'))).toBe(800)
  expect(rates.convert(7, 'GBP', 'GBP', 0)).toBe(7)
  expect(rates.convert(7, 'GBP', 'TRY', at('2026-11-06'))).toBe(null)
  expect(rates.convert(1, 'TRY', 'EUR', at('2026-11-06'))).toBe(1)
})
