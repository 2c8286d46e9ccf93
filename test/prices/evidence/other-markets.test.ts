// Rule `other_markets`: conflicts with the usual ratio, which of the two prices is wrong, and what a third market settles.
import { expect, test } from 'vitest'
import { A, B, C, DAY, findings, NOW, price, RULES, ratios, SERVICE, verdicts } from './judged.ts'

const OFF = 'disputed other_markets'
const EXPLAINED = 'trusted condition_unknown'

test('a conflict disputes both sides', () => {
  expect(verdicts([price(B, 1000), price(C, 4499)])).toEqual(['trusted', 'trusted'])
  expect(verdicts([price(B, 1000), price(C, 4500)])).toEqual([OFF, OFF])
})

test('markets are compared by their usual ratio, from both sides', () => {
  const usual = { ratios: ratios({ ratio: 3 }) }
  expect(verdicts([price(B, 1000), price(C, 4900)], {}, usual)).toEqual(['trusted', 'trusted'])
  expect(verdicts([price(C, 4900), price(B, 1000)], {}, usual)).toEqual(['trusted', 'trusted'])
  expect(verdicts([price(B, 1000), price(C, 13_500)], {}, usual)).toEqual([OFF, OFF])
  expect(verdicts([price(B, 1000), price(C, 660)], {}, usual)).toEqual([OFF, OFF])
})

test('with a widely spread ratio, a conflict requires a larger difference', () => {
  expect(verdicts([price(B, 1000), price(C, 5000)], {}, { ratios: ratios({ spread: 3 }) })).toEqual([
    'trusted markets_apart',
    'trusted markets_apart',
  ])
  expect(verdicts([price(B, 1000), price(C, 9000)], {}, { ratios: ratios({ spread: 3 }) })).toEqual([OFF, OFF])
})

test('a figure over all conditions may be lower than the usual band, which is explained and not disputed', () => {
  const unknown = { conditionKnown: false }
  expect(verdicts([price(B, 1000, unknown), price(C, 4499)])).toEqual(['trusted', 'trusted'])
  expect(verdicts([price(B, 1000, unknown), price(C, 4500)])).toEqual([EXPLAINED, EXPLAINED])
  expect(verdicts([price(C, 6749), price(B, 1000, unknown)])).toEqual([EXPLAINED, EXPLAINED])
  expect(verdicts([price(B, 1000, unknown), price(C, 6750)])).toEqual([OFF, OFF])
  expect(verdicts([price(B, 1000, unknown), price(C, 6749, unknown)])).toEqual([EXPLAINED, EXPLAINED])
  expect(findings([price(B, 1000, unknown), price(C, 5000)])).toEqual([
    { flag: 'condition_unknown', price: 0, otherMarket: C, compared: 5000, timesOff: 5, counts: false },
    { flag: 'condition_unknown', price: 1, otherMarket: B, compared: 1000, timesOff: 5, counts: false },
  ])
})

test('a figure over all conditions that is the higher one is disputed as usual', () => {
  expect(verdicts([price(B, 4500, { conditionKnown: false }), price(C, 1000)])).toEqual([OFF, OFF])
})

test('the price whose own figures contradict it is disputed within the wider band, too', () => {
  const far = price(B, 1000, { conditionKnown: false, avg7: 5000, avg30: 5000 })
  expect(verdicts([far, price(C, 5000)])).toEqual(['disputed own_averages,other_markets', 'trusted'])
})

test('an explained difference neither supports a price nor makes it unfit as evidence', () => {
  const prices = [price(A, 5000), price(B, 1000, { conditionKnown: false }), price(C, 90)]
  expect(verdicts(prices)).toEqual([`${OFF},condition_unknown`, `${OFF},condition_unknown`, OFF])
  expect(verdicts([price(SERVICE, 5000), price(B, 1000, { conditionKnown: false })])).toEqual([EXPLAINED, 'trusted'])
})

test('differences below the noise are no conflict', () => {
  expect(verdicts([price(B, 2), price(C, 51)])).toEqual(['trusted', 'trusted'])
  expect(verdicts([price(B, 2), price(C, 52)])).toEqual([OFF, OFF])
})

test('of three prices, the one that differs is disputed', () => {
  expect(verdicts([price(A, 1000), price(B, 1100), price(C, 9000)])).toEqual(['trusted', 'trusted', OFF])
  expect(verdicts([price(A, 100), price(B, 1100), price(C, 1000)])).toEqual([OFF, 'trusted', 'trusted'])
  expect(verdicts([price(A, 10), price(B, 1000), price(C, 100_000)])).toEqual([OFF, OFF, OFF])
})

test('a third market between them supports both', () => {
  expect(verdicts([price(A, 1000), price(B, 1900), price(C, 3500)], { thresholds: { ...RULES, marketFactor: 3 } })).toEqual([
    'trusted',
    'trusted',
    'trusted',
  ])
})

test('averages at twice the distance decide which side of a conflict is wrong, smaller deviations do not', () => {
  const wrong = price(B, 9000, { avg7: 1000, avg30: 1000 })
  expect(verdicts([wrong, price(C, 1000)])).toEqual(['disputed own_averages,other_markets', 'trusted'])
  expect(verdicts([price(B, 9000, { avg7: 4600, avg30: 4600 }), price(C, 1000)])).toEqual(['disputed own_averages,other_markets', OFF])
})

test('a lowest offer above what the other market expects decides against a price with sales, not one with offers only', () => {
  expect(verdicts([price(B, 9000, { avg7: 9000, avg30: 9000, low: 2000 }), price(C, 1000)])).toEqual([OFF, 'trusted'])
  expect(verdicts([price(C, 9000, { low: 2000, mid: 9000 }), price(B, 1000)])).toEqual([OFF, OFF])
})

test('a doubt from its own figures in the direction of a smaller difference disputes both sides', () => {
  const charizard = price(B, 12_363, { avg1: 20_740, avg7: 12_955, avg30: 20_271 })
  expect(verdicts([charizard, price(C, 26_000)])).toEqual([OFF, OFF])
  expect(verdicts([charizard, price(C, 5000)])).toEqual(['trusted', 'trusted'])
})

test('in a smaller difference, a price above its own offers is wrong, and one below them is no evidence', () => {
  expect(verdicts([price(C, 2500, { low: 400, mid: 1000 }), price(B, 1000)])).toEqual(['disputed own_averages,other_markets', 'trusted'])
  expect(verdicts([price(C, 390, { low: 400, mid: 1000 }), price(B, 1000)])).toEqual(['trusted', 'trusted'])
})

test('a price that may be of another item decides nothing: its conflict disputes both', () => {
  expect(verdicts([price(B, 1000), price(C, 9000, { sharedId: true })])).toEqual([OFF, 'disputed shared_id,other_markets'])
  expect(verdicts([price(B, 1000), price(C, 9000, { identical: true })])).toEqual([OFF, 'disputed identical_figures,other_markets'])
  expect(verdicts([price(B, 1000), price(C, 3000, { identical: true })])).toEqual([OFF, 'disputed identical_figures,other_markets'])
})

test('trusted prices that are five times apart say so, and whether that is usual', () => {
  const usual = { ratios: ratios({ ratio: 5 }) }
  const prices = [price(B, 1000), price(C, 5000)]
  expect(verdicts(prices, {}, usual)).toEqual(['trusted markets_apart', 'trusted markets_apart'])
  expect(verdicts([price(B, 1000), price(C, 4999)], {}, usual)).toEqual(['trusted', 'trusted'])
  expect(findings(prices, {}, usual)).toMatchObject([
    { flag: 'markets_apart', price: 0, otherMarket: C, compared: 1000, counts: false },
    { flag: 'markets_apart', price: 1, otherMarket: B, compared: 5000, counts: false },
  ])
  expect(verdicts([price(B, 1000), price(C, 30_000)], {}, usual)).toEqual([OFF, OFF])
})

test('the ratio of a set is at most three times that of the game', () => {
  const ofSet = ratios({ ratio: 9 }, { categoryId: 0, ratio: 2 })
  expect(ofSet[B * 4 + C]?.ratio).toBeCloseTo(6)
  expect(ofSet[C * 4 + B]?.ratio).toBeCloseTo(1 / 6)
  expect(ratios({ ratio: 0.1 }, { categoryId: 0, finish: '', ratio: 2 })[B * 4 + C]?.ratio).toBeCloseTo(2 / 3)
})

test('stale prices and prices of our own sales contradict no other price; ours are contradicted by others', () => {
  expect(verdicts([price(B, 1000), price(C, 9000, { confirmedAtMs: NOW - 30 * DAY })])).toEqual(['trusted', 'stale old'])
  expect(verdicts([price(SERVICE, 1000), price(C, 9000)])).toEqual(['disputed other_markets', 'trusted'])
  expect(verdicts([price(SERVICE, 1000), price(C, 4000)])).toEqual(['trusted', 'trusted'])
  expect(verdicts([price(SERVICE, 1000, { fewPeople: true })])).toEqual(['unproven few_people'])
  expect(verdicts([price(SERVICE, 1000, { samples: 5, confirmedAtMs: NOW - 91 * DAY })])).toEqual(['stale old'])
})

test('a missing rate is reported and contradicts no price', () => {
  expect(verdicts([price(B, 1000), price(C, 9000)], { convert: () => null })).toEqual(['trusted no_rate', 'trusted no_rate'])
})

test('amounts are converted at daily rates before they are compared', () => {
  expect(verdicts([price(B, 1000), price(C, 9000)], { convert: (minor, from) => (from === C ? minor / 9 : minor * 9) })).toEqual([
    'trusted',
    'trusted',
  ])
})

test('an explanation names the price compared with and whether it counted', () => {
  const seen = findings([price(A, 1000), price(B, 1100), price(C, 9000)]).map((f) => [f.flag, f.price, f.otherMarket, f.compared, f.counts])
  expect(seen).toEqual([
    ['other_markets', 0, C, 9000, false],
    ['other_markets', 2, A, 1000, true],
    ['other_markets', 1, C, 9000, false],
    ['other_markets', 2, B, 1100, true],
  ])
})
