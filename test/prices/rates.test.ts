// Exchange rates in memory: which day's rate converts an amount, and when there is no rate.
import { expect, test } from 'vitest'
import { Rates } from '#prices/rates/rates.ts'

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
