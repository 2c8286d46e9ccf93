// The service's own price: the median of the last ten sales of ninety days, exact to the kuruş.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Sale, servicePrice } from '#prices/writing/service-price.ts'

const NOW = Date.parse('2026-11-21T12:00:00Z')
const DAY = 86_400_000
const sold = (minor: number, daysAgo: number): Sale => ({ minor, soldAtMs: NOW - daysAgo * DAY })

test('is the median sale, or the mean of the two middle ones rounded half up', () => {
  expect(servicePrice([], NOW)).toBe(null)
  expect(servicePrice([sold(100, 1)], NOW)).toBe(100)
  expect(servicePrice([sold(100, 1), sold(201, 2)], NOW)).toBe(151)
  expect(servicePrice([sold(900, 1), sold(100, 2), sold(300, 3)], NOW)).toBe(300)
})

test('uses the last ninety days', () => {
  expect(servicePrice([sold(100, 90)], NOW)).toBe(null)
  expect(servicePrice([sold(100, 89.9)], NOW)).toBe(100)
})

test('uses the last ten sales only; at the same time, those with higher ids', () => {
  const old = Array.from({ length: 20 }, () => sold(1_000_000, 5))
  expect(servicePrice([...old, ...Array.from({ length: 10 }, () => sold(70, 1))], NOW)).toBe(70)
  expect(servicePrice([...old, ...Array.from({ length: 10 }, () => sold(70, 5))], NOW)).toBe(70)
})

test('lies between the lowest and highest sale, in any order', () => {
  const sale = fc.record({ minor: fc.integer({ min: 1, max: 999_999_900 }), soldAtMs: fc.integer({ min: NOW - 89 * DAY, max: NOW }) })
  fc.assert(
    fc.property(fc.uniqueArray(sale, { minLength: 1, maxLength: 30, selector: (s) => s.soldAtMs }), (sales) => {
      const price = servicePrice(sales, NOW)!
      const last = [...sales].sort((a, b) => b.soldAtMs - a.soldAtMs).slice(0, 10)
      const below = last.filter((s) => s.minor <= price).length
      const above = last.filter((s) => s.minor >= price).length
      expect(Math.min(below, above) * 2).toBeGreaterThanOrEqual(last.length - 1)
      expect(Number.isInteger(price)).toBe(true)
      expect(servicePrice([...sales].reverse(), NOW)).toBe(price)
    }),
  )
})
