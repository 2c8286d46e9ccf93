// Exchange rates in memory: exact conversion by the rate of the day, and missing rates.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MAX_MINOR } from '#core/money.ts'
import { Rates } from '#prices/rates/rates.ts'
import { runs } from '../support/runs.ts'

test('rates convert by the last one known on the day, and only if there is one', () => {
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

test('half a minor unit is rounded up, which floats lose, and only a positive amount stays positive', () => {
  const rates = new Rates()
  rates.add('USD', 0, 1.005)
  rates.add('EUR', 0, 1.15)
  rates.add('JPY', 0, 0.000001)
  expect(rates.convert(100, 'USD', 'TRY', 0)).toBe(101)
  expect(rates.convert(130, 'EUR', 'TRY', 0)).toBe(150)
  expect(rates.convert(1, 'JPY', 'TRY', 0)).toBe(1)
  expect(rates.convert(0, 'JPY', 'TRY', 0)).toBe(0)
  expect(rates.on('USD', 0)).toEqual({ lira: 1.005, day: '1970-01-01' })
})

test('every amount is converted as exact rational arithmetic would', () => {
  const micro = fc.oneof(fc.integer({ min: 1, max: 100_000_000 }), fc.integer({ min: 1, max: 1_000_000_000_000_000 }), fc.constant(1_000_000))
  const amount = fc.oneof(fc.integer({ min: 0, max: 1_000_000 }), fc.integer({ min: 0, max: MAX_MINOR }))
  // One minor unit at rates that give something and a half, or just less.
  const half = fc
    .tuple(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 1, max: 1_000_000_000_000 }), fc.integer({ min: 0, max: 1 }))
    .map(([whole, to, less]): [number, number, number] => [1, Math.max(1, Math.floor((to * (2 * whole + 1)) / 2) - less), to])
  fc.assert(
    fc.property(fc.oneof(fc.tuple(amount, micro, micro), half), ([minor, from, to]) => {
      const rates = new Rates()
      rates.add('AAA', 0, from / 1_000_000)
      rates.add('BBB', 0, to / 1_000_000)
      const exactly = (a: number, b: number) => {
        const [product, divisor] = [BigInt(minor) * BigInt(a), BigInt(b)]
        const up = (product % divisor) * 2n >= divisor ? 1n : 0n
        const rounded = product / divisor + up
        return Number(minor > 0 && rounded === 0n ? 1n : rounded)
      }
      expect(rates.convert(minor, 'AAA', 'BBB', 0)).toBe(exactly(from, to))
      expect(rates.convert(minor, 'AAA', 'TRY', 0)).toBe(exactly(from, 1_000_000))
      expect(rates.convert(minor, 'TRY', 'BBB', 0)).toBe(exactly(1_000_000, to))
    }),
    { numRuns: runs(2_000) },
  )
})
