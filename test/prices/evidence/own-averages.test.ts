// Rule `own_averages`: when a feed's own figures contradict its price, and when they only make it doubtful.
import { expect, test } from 'vitest'
import { ownDoubt } from '#prices/evidence/own-averages.ts'
import type { Figures } from '#prices/evidence/evidence-types.ts'
import { B, C, findings, NO_FIGURES, price, RULES, verdicts } from './judged.ts'

function doubt(minor: number, figures: Partial<Figures>) {
  const found = ownDoubt(minor, { ...NO_FIGURES, ...figures }, RULES, 50)
  return found && [found.side, found.isCertain ? 'certain' : 'doubt', found.compared]
}

test('averages of 7 and 30 days together contradict a price, up and down', () => {
  expect(doubt(1600, { avg7: 1000, avg30: 900 })).toEqual([1, 'certain', 1000])
  expect(doubt(1599, { avg7: 1000, avg30: 900 })).toBe(null)
  expect(doubt(500, { avg7: 800, avg30: 900 })).toEqual([-1, 'certain', 800])
  expect(doubt(1600, { avg7: 1000, avg30: 1500 })).toBe(null)
})

test('averages on both sides of a price contradict each other, not the price', () => {
  expect(doubt(1000, { avg7: 100, avg30: 9000 })).toBe(null)
})

test('one average alone decides if the other is missing or zero', () => {
  expect(doubt(3000, { avg7: 1000 })).toEqual([1, 'certain', 1000])
  expect(doubt(3000, { avg30: 1000, avg7: 0 })).toEqual([1, 'certain', 1000])
  expect(doubt(3000, { avg7: 0, avg30: 0, avg1: 0, low: 0, mid: 0 })).toBe(null)
})

test('the average of one day counts only in between, and only as a doubt', () => {
  expect(doubt(3000, { avg1: 1000 })).toBe(null)
  expect(doubt(12_363, { avg1: 20_740, avg7: 12_955, avg30: 20_271 })).toEqual([-1, 'doubt', 20_271])
  expect(doubt(1000, { avg1: 9000, avg7: 1100, avg30: 1200 })).toBe(null)
})

test('differences below the noise contradict no price', () => {
  expect(doubt(52, { avg7: 3, avg30: 3 })).toBe(null)
  expect(doubt(53, { avg7: 3, avg30: 3 })).toEqual([1, 'certain', 3])
})

test('a feed without averages is evaluated by its offers', () => {
  expect(doubt(2500, { low: 400, mid: 1000 })).toEqual([1, 'certain', 1000])
  expect(doubt(2000, { low: 400, mid: 1000 })).toEqual([1, 'certain', 1000])
  expect(doubt(1999, { low: 400, mid: 1000 })).toEqual([1, 'doubt', 1000])
  expect(doubt(1500, { low: 400, mid: 1000 })).toBe(null)
  expect(doubt(250, { low: 400, mid: 1000 })).toEqual([-1, 'certain', 400])
  expect(doubt(390, { low: 400, mid: 1000 })).toEqual([-1, 'doubt', 400])
  expect(doubt(250, { low: 100, mid: 1000 })).toEqual([-1, 'doubt', 1000])
  expect(doubt(1, { low: 25, mid: 95 })).toEqual([-1, 'certain', 25])
})

test('a price below its offers is cleared by another market that agrees, a price above them is not', () => {
  const low = price(C, 250, { low: 400, mid: 1000 })
  const high = price(C, 2500, { low: 400, mid: 1000 })
  expect(verdicts([low])).toEqual(['disputed own_averages'])
  expect(verdicts([low, price(B, 400)])).toEqual(['trusted', 'trusted'])
  expect(verdicts([low, price(B, 1100)])).toEqual(['disputed own_averages', 'trusted'])
  expect(verdicts([high, price(B, 2500)])).toEqual(['disputed own_averages', 'trusted'])
  expect(findings([low, price(B, 400)]).map(({ flag, counts }) => [flag, counts])).toEqual([['own_averages', false]])
})

test('only certain evidence disputes a price that has no other', () => {
  expect(verdicts([price(B, 3000, { avg7: 1000, avg30: 1000 })])).toEqual(['disputed own_averages'])
  expect(verdicts([price(B, 12_363, { avg1: 20_740, avg7: 12_955, avg30: 20_271 })])).toEqual(['trusted'])
})
