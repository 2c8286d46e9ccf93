// The service's own price as pure functions: pairs of seller and buyer, their weights, and what it costs to move the price.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { costToMove } from '#prices/own/cost-to-move.ts'
import { momentOf, ownPriceOf, type OwnSale, pairWeights, weightedMedian } from '#prices/own/own-price.ts'
import { cheapestMove } from '../../bench/prices/cheapest-move.ts'
import { runs } from '../support/runs.ts'

const NOW = Date.parse('2026-11-21T12:00:00Z')
const DAY = 86_400_000
let orders = 0

/** A sale with its own seller, buyer and order unless stated otherwise. */
function sold(minor: number, daysAgo: number, rest: Partial<OwnSale> = {}): OwnSale {
  orders += 1
  const people = { sellerId: 1_000 + orders, buyer: `reference ${orders}`, buyerAccountId: null }
  return { id: orders, orderId: orders, line: 1, minor, soldAtMs: NOW - daysAgo * DAY, isCancelled: false, lowestAskMinor: null, ...people, ...rest }
}

const priceOf = (...sales: OwnSale[]) => ownPriceOf(sales, NOW).price?.minor ?? null
const useOf = (...sales: OwnSale[]) => ownPriceOf(sales, NOW).use

describe('the price', () => {
  test('is the median of the pairs, or the mean of the two middle ones rounded half up', () => {
    expect(priceOf()).toBe(null)
    expect(priceOf(sold(100, 1))).toBe(100)
    expect(priceOf(sold(100, 1), sold(201, 2))).toBe(151)
    expect(priceOf(sold(900, 1), sold(100, 2), sold(300, 3))).toBe(300)
  })

  test('uses the last ninety days, and then the time of the last sale that counted', () => {
    expect(priceOf(sold(100, 90))).toBe(null)
    expect(priceOf(sold(100, 89.9))).toBe(100)
    const sales = [sold(9, 1, { sellerId: 1, buyerAccountId: 1 }), sold(100, 95), sold(300, 100), sold(500, 190)]
    expect(ownPriceOf(sales, momentOf(sales, NOW)).price?.minor).toBe(200)
  })

  test('uses the ten pairs with the newest sales; at the same time, those recorded last', () => {
    const old = Array.from({ length: 20 }, () => sold(1_000_000, 5))
    expect(priceOf(...old, ...Array.from({ length: 10 }, () => sold(70, 5)))).toBe(70)
    expect(useOf(...old).filter((use) => use === 'older_pair')).toHaveLength(10)
  })

  test('counts the sales of a pair once, at their median; those of a seller without a buyer are one pair', () => {
    const flood = Array.from({ length: 10 }, () => sold(3_090_000, 1, { sellerId: 1, buyer: 'reference friend' }))
    const honest = [sold(30_900, 5), sold(31_000, 6), sold(30_800, 7)]
    expect(priceOf(...flood, ...honest)).toBe(30_950)
    const anonymous = Array.from({ length: 10 }, (_, i) => sold(3_090_000 + i, 1, { sellerId: 1, buyer: null }))
    expect(ownPriceOf(anonymous, NOW).price).toMatchObject({ buyers: 0, sellers: 1, isProven: false, minor: 3_090_005 })
  })

  test('excludes cancelled sales, further lines of an order, own purchases, cards sold back, and prices far above other offers', () => {
    const [first, second] = [1, 2].map((line) => sold(100, 1, { orderId: 77, line }))
    expect(useOf(second!, first!)).toEqual(['same_order', 0])
    expect(useOf(sold(100, 1, { isCancelled: true }))).toEqual(['cancelled'])
    expect(useOf(second!, { ...first!, isCancelled: true })).toEqual([0, 'cancelled'])
    expect(useOf(sold(100, 1, { sellerId: 5, buyerAccountId: 5 }))).toEqual(['own_purchase'])
    const there = (daysAgo: number) => sold(100, daysAgo, { sellerId: 5, buyer: 'account 6', buyerAccountId: 6 })
    const back = (daysAgo: number) => sold(100, daysAgo, { sellerId: 6, buyer: 'account 5', buyerAccountId: 5 })
    expect(useOf(there(70), back(20))).toEqual(['sold_back', 'sold_back'])
    expect(useOf(there(85), back(20))).toEqual([1, 0])
    expect(useOf(sold(1_250, 1, { lowestAskMinor: 1_000 }), sold(1_251, 1, { lowestAskMinor: 1_000 }))).toEqual([0, 'above_asks'])
  })

  test('needs three buyers and two sellers to be proven', () => {
    const proven = (...people: [sellerId: number, buyer: string][]) =>
      ownPriceOf(
        people.map(([sellerId, buyer]) => sold(100, 1, { sellerId, buyer })),
        NOW,
      ).price!.isProven
    expect(proven([1, 'a'], [1, 'b'], [1, 'c'], [1, 'd'])).toBe(false)
    expect(proven([1, 'a'], [2, 'a'], [3, 'b'])).toBe(false)
    expect(proven([1, 'a'], [1, 'b'], [2, 'c'])).toBe(true)
  })
})

describe('weights', () => {
  test('give no seller more than a third, or more than the others of fewer', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 10 }), (sellerIds) => {
        const ids = [...new Set(sellerIds)]
        const bySeller = pairWeights(ids.map((id) => sellerIds.filter((other) => other === id).length))
        const weights = sellerIds.map((id) => bySeller[ids.indexOf(id)]!)
        const total = weights.reduce((sum, weight) => sum + weight, 0)
        const sellers = new Set(sellerIds)
        const share = Math.max(1 / 3, 1 / sellers.size)
        for (const id of sellers) {
          const ofSeller = weights.filter((_, i) => sellerIds[i] === id)
          expect(ofSeller.reduce((sum, weight) => sum + weight, 0)).toBeLessThanOrEqual(total * share)
          expect(new Set(ofSeller).size).toBe(1)
        }
        expect(weights.every((weight) => Number.isInteger(weight) && weight > 0)).toBe(true)
        // Only sellers at the limit weigh less than others.
        const largest = Math.max(...weights)
        for (const [i, weight] of weights.entries()) {
          const ofSeller = weight * sellerIds.filter((id) => id === sellerIds[i]).length
          if (weight < largest) expect(ofSeller).toBe(total * share)
        }
      }),
    )
  })

  test('the median has at most half of the weight on each side', () => {
    const pair = fc.record({ value: fc.integer({ min: 1, max: 1_000 }), weight: fc.integer({ min: 1, max: 9 }) })
    fc.assert(
      fc.property(fc.array(pair, { minLength: 1, maxLength: 10 }), (pairs) => {
        const median = weightedMedian(
          pairs.map(({ value }) => value),
          pairs.map(({ weight }) => weight),
        )
        const sum = (of: typeof pairs) => of.reduce((total, { weight }) => total + weight, 0)
        expect(sum(pairs.filter(({ value }) => value < median)) * 2).toBeLessThanOrEqual(sum(pairs))
        expect(sum(pairs.filter(({ value }) => value > median)) * 2).toBeLessThanOrEqual(sum(pairs))
      }),
    )
  })
})

describe('the cost of moving it', () => {
  const SHIPPING = 3_000
  const costOf = (...sales: OwnSale[]) => costToMove(ownPriceOf(sales, NOW).price!, SHIPPING)

  test('is shipping of the fewest sales; 0 without known buyers', () => {
    // Two of the three pairs sell once more, for one kuruş.
    expect(costOf(sold(30_000, 1), sold(30_900, 2), sold(31_000, 3))).toEqual({ minor: 6_000, buyers: 2, sellers: 2, days: 90 })
    expect(costOf(sold(30_000, 1, { buyer: null }))).toMatchObject({ minor: 0, buyers: 0 })
  })

  test('grows with the number of independent people, to four sales', () => {
    const salesOf = (pairs: number) => costOf(...Array.from({ length: pairs }, (_, i) => sold(30_000 + i, i))).minor / SHIPPING
    expect([1, 2, 3, 4, 5, 10].map(salesOf)).toEqual([1, 1, 2, 2, 3, 4])
  })

  test('counts a card sold back, after which a purchase no longer counts', () => {
    const account = { buyer: 'account 6', buyerAccountId: 6 }
    const high = sold(40_000, 1, { sellerId: 5, ...account })
    // Without the high price, those of 30,000 and 20,000 give 25,000.
    const sales = [high, sold(30_000, 2), sold(20_000, 3)]
    expect(costOf(...sales)).toMatchObject({ minor: SHIPPING, buyers: 1, sellers: 1 })
    expect(ownPriceOf(sales, NOW).price?.minor).toBe(30_000)
  })

  test('is never more than an exhaustive adversary pays', () => {
    const sale = fc.record({
      minor: fc.integer({ min: 10, max: 400 }),
      sellerId: fc.integer({ min: 1, max: 3 }),
      buyer: fc.constantFrom('a', 'b', 'c'),
    })
    fc.assert(
      fc.property(fc.array(sale, { minLength: 1, maxLength: 5 }), (sales) => {
        const history = sales.map(({ minor, ...rest }, i) => sold(minor * 100, i + 1, { ...rest, buyer: `reference ${rest.buyer}` }))
        const cheapest = cheapestMove(history, NOW, { commissionPercent: 0, shippingMinor: SHIPPING }, 3)
        if (cheapest !== null) expect(costOf(...history).minor).toBeLessThanOrEqual(cheapest)
      }),
      { numRuns: runs(60) },
    )
  })
})
