// Rule `frozen`: when a source only repeats a price while another market moves.
import { expect, test } from 'vitest'
import { isFrozen } from '#prices/evidence/frozen.ts'
import { B, C, DAY, NOW, price, RULES, verdicts } from './judged.ts'

function frozen(days: number, before: number, since: readonly number[]): boolean {
  return isFrozen({ sinceMs: NOW - days * DAY, confirmedAtMs: NOW }, before, since, RULES, 50)
}

test('a price is frozen after three weeks in which another market has moved in three reports, up or down', () => {
  expect(frozen(21, 1000, [1600, 1700, 1800])).toBe(true)
  expect(frozen(21, 1600, [1000, 900, 800])).toBe(true)
  expect(frozen(20, 1000, [1600, 1700, 1800])).toBe(false)
  expect(frozen(30, 1000, [])).toBe(false)
})

test('a price is not frozen if the other market moved too few times, too little, or back again', () => {
  expect(frozen(30, 1000, [1700, 1800])).toBe(false)
  expect(frozen(30, 1000, [1100, 1200, 1599])).toBe(false)
  expect(frozen(30, 1000, [1700, 1800, 1900, 1100])).toBe(false)
  expect(frozen(30, 20, [40, 50, 60])).toBe(false)
})

test('a frozen price is stale and contradicts no other', () => {
  expect(verdicts([price(B, 1000, { frozen: true }), price(C, 9000)])).toEqual(['stale frozen', 'trusted'])
})
