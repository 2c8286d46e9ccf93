// Rules `jump` and `average_jump`: what they find when a price arrives, how long the finding lasts, and what settles it.
import { expect, test } from 'vitest'
import { jumpsOf, type LastPrice } from '#prices/evidence/jumps.ts'
import { bitsOf, type Figures, type Flag, flagsOf } from '#prices/evidence/evidence-types.ts'
import { B, C, DAY, NO_FIGURES, NOW, price, RULES, verdicts } from './judged.ts'

const figures = (some: Partial<Figures>): Figures => ({ ...NO_FIGURES, ...some })

function last(minor: number, rest: Partial<LastPrice> & { flagNames?: Flag[] } = {}): LastPrice {
  return { minor, confirmedAtMs: NOW - DAY, state: 'trusted', flags: bitsOf(rest.flagNames ?? []), figures: null, ...rest }
}

function jumps(minor: number, before: LastPrice | null, some: Partial<Figures> | null = null): Flag[] {
  return flagsOf(jumpsOf({ minor, updatedAtMs: NOW, figures: some && figures(some) }, before, 50, RULES))
}

test('a price far from a recently confirmed one is a jump', () => {
  expect(jumps(1800, last(1000))).toEqual(['jump'])
  expect(jumps(1799, last(1000))).toEqual([])
  expect(jumps(555, last(1000))).toEqual(['jump'])
  expect(jumps(9000, null)).toEqual([])
  expect(jumps(51, last(2))).toEqual([])
})

test('a stale, disputed or old price is no reference, unless only identical figures contradict it', () => {
  expect(jumps(9000, last(1000, { state: 'stale', flagNames: ['old'] }))).toEqual([])
  expect(jumps(9000, last(1000, { state: 'disputed', flagNames: ['other_markets'] }))).toEqual([])
  expect(jumps(9000, last(1000, { confirmedAtMs: NOW - 91 * DAY }))).toEqual([])
  expect(jumps(9000, last(1000, { state: 'disputed', flagNames: ['identical_figures', 'no_rate'] }))).toEqual(['jump'])
})

test('a jump is real if the short average has followed and the long one has not', () => {
  const before = last(1000, { figures: figures({ avg7: 1000, avg30: 1000 }) })
  expect(jumps(3000, before, { avg7: 2500, avg30: 1300 })).toEqual([])
  expect(jumps(3000, before, { avg7: 1100, avg30: 1000 })).toEqual(['jump'])
})

test('figures that all changed alike belong to another card', () => {
  const before = last(1000, { figures: figures({ avg7: 1000, avg30: 1000 }) })
  expect(jumps(3000, before, { avg7: 3000, avg30: 3000 })).toEqual(['jump', 'average_jump'])
  expect(jumps(2000, before, { avg7: 2000, avg30: 2000 })).toEqual(['jump'])
})

test('averages that jump with an unchanged price count as well', () => {
  expect(jumps(1000, last(1000, { figures: figures({ avg30: 1000 }) }), { avg30: 3000 })).toEqual(['average_jump'])
})

test('the median of few offers may vary freely', () => {
  expect(jumps(1000, last(1000, { figures: figures({ mid: 1000 }) }), { mid: 9000 })).toEqual([])
})

test('after two weeks, an average may have changed', () => {
  const before = last(1000, { figures: figures({ avg30: 1000 }), confirmedAtMs: NOW - 15 * DAY })
  expect(jumps(3000, before, { avg30: 3000 })).toEqual(['jump'])
})

test('a jump repeated with small changes stays a jump; its return is none', () => {
  const wrong = last(9000, { state: 'disputed', flagNames: ['jump'] })
  expect(jumps(9100, wrong)).toEqual(['jump'])
  expect(jumps(1000, wrong)).toEqual([])
})

test('a jump is disputed until another market agrees closely', () => {
  const jumped = price(B, 3000, { jumped: true, averageJumped: true })
  expect(verdicts([jumped])).toEqual(['disputed jump,average_jump'])
  expect(verdicts([jumped, price(C, 3800)])).toEqual(['trusted', 'trusted'])
  expect(verdicts([jumped, price(C, 5000)])).toEqual(['disputed jump,average_jump', 'trusted'])
  expect(verdicts([jumped, price(C, 3000, { identical: true })])[0]).toBe('disputed jump,average_jump')
  expect(verdicts([jumped, price(C, 3000, { jumped: true })])).toEqual(['disputed jump,average_jump', 'disputed jump'])
})

test('a jump that its source has confirmed for a month is settled', () => {
  expect(verdicts([price(B, 3000, { jumped: true, updatedAtMs: NOW - 29 * DAY })])).toEqual(['disputed jump'])
  expect(verdicts([price(B, 3000, { jumped: true, updatedAtMs: NOW - 30 * DAY })])).toEqual(['trusted'])
})
