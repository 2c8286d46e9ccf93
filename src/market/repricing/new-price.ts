// Computes the price a repricing rule sets for a listing, with the reason. Pure, so that runs, simulations and tests share it.
import { minorToNumber, priceForPayout } from '#core/money.ts'
import { type Reason, reason } from '#core/problems.ts'
import { median } from '#prices/records/medians.ts'
import { MAX_PRICE, MIN_PRICE } from '../records/fields.ts'
import { cheapestOf, type Input } from '../records/comparables.ts'
import { FAR_FACTOR } from '../records/market-price.ts'
import type { Terms } from './terms.ts'

/** Facts about one listing; amounts in kuruş. */
export interface Facts {
  /** current price */
  kurus: number
  /** lowest acceptable offer; the price must not be below it */
  minOfferKurus: number | null
  commissionPercent: number
  /** trusted market price of the item and grade; null for none */
  marketKurus: number | null
  /** inputs of the target: the market's price, comparable listings or sales; or why there are none */
  inputs: readonly Input[] | Reason
}

export const PRICE_LIMITS = ['floor', 'ceiling', 'max_move'] as const
export type PriceLimit = (typeof PRICE_LIMITS)[number]

export interface NewPrice {
  /** the price to set; the current one if it stays */
  kurus: number
  /** the limit that kept the price from the target; null for none */
  limit: PriceLimit | null
  /** the competing price that the target is computed from; null for another target or none */
  follows: Input | null
  why: Reason
}

/** The price according to the rule, within its limits. The floor applies always, even if there is no target. */
export function newPrice(terms: Terms, facts: Facts): NewPrice {
  const lowest = lowestPrice(terms, facts)
  const unchanged = { kurus: facts.kurus, limit: null, follows: null }
  if (lowest > MAX_PRICE * 100) return { ...unchanged, limit: 'floor', why: reason('price_out_of_range') }
  const target = targetOf(terms, facts.inputs)
  if ('rule' in target) {
    if (facts.kurus >= lowest) return { ...unchanged, why: target }
    return { ...unchanged, kurus: lowest, limit: 'floor', why: reason('price_below_floor', { floor: minorToNumber(lowest) }) }
  }
  const highest = highestPrice(terms, facts)
  const within = limited(target.kurus, { lowest, highest, before: facts.kurus, maxMovePercent: terms.maxMovePercent })
  return { ...within, follows: target.follows, why: whyOf(within, target, terms, facts) }
}

interface Within {
  kurus: number
  limit: PriceLimit | null
}

interface Limits {
  lowest: number
  highest: number
  before: number
  maxMovePercent: number | null
}

function limited(target: number, { lowest, highest, before, maxMovePercent }: Limits): Within {
  const move = maxMovePercent === null ? Infinity : Math.floor((before * maxMovePercent) / 100)
  let [kurus, limit]: [number, PriceLimit | null] = [Math.min(before + move, Math.max(before - move, target)), null]
  if (kurus !== target) limit = 'max_move'
  if (kurus > highest) [kurus, limit] = [highest, 'ceiling']
  if (kurus < lowest) [kurus, limit] = [lowest, 'floor']
  return { kurus, limit }
}

function whyOf({ kurus, limit }: Within, of: Target, terms: Terms, { marketKurus }: Facts): Reason {
  const { follows, ignored } = of
  const target = {
    target: minorToNumber(of.kurus),
    ...(follows?.listingId !== undefined && { listing: follows.listingId, price: minorToNumber(follows.kurus) }),
    ...(ignored > 0 && { ignored }),
  }
  switch (limit) {
    case 'floor':
      return reason('price_at_floor', { ...target, floor: minorToNumber(kurus) })
    case 'ceiling':
      if (!isBoundByMarket(terms)) return reason('price_at_ceiling', { ...target, ceiling: minorToNumber(terms.ceilingKurus ?? MAX_PRICE * 100) })
      return marketKurus === null
        ? reason('price_unbounded', target)
        : reason('price_above_market', { ...target, market_price: minorToNumber(marketKurus), factor: FAR_FACTOR })
    case 'max_move':
      return reason('price_move', { ...target, percent: terms.maxMovePercent! })
    case null:
      return reason('price_target', target)
  }
}

/** Whether the market limits raises: without a ceiling, other sellers alone could raise a price to any amount. */
function isBoundByMarket({ ceilingKurus, target }: Terms): boolean {
  return ceilingKurus === null && target.kind !== 'market'
}

/** The highest price the rule may set. The market's limit never lowers a price. */
function highestPrice(terms: Terms, { kurus, marketKurus }: Facts): number {
  const own = isBoundByMarket(terms) ? Math.max(kurus, (marketKurus ?? 0) * FAR_FACTOR) : (terms.ceilingKurus ?? Infinity)
  return Math.min(MAX_PRICE * 100, own)
}

/** The lowest price the rule may set; Infinity if no price reaches the minimum payout. */
function lowestPrice({ floorKurus, floorPayoutKurus }: Terms, { minOfferKurus, commissionPercent }: Facts): number {
  const forPayout = floorPayoutKurus === null ? 0 : priceForPayout(floorPayoutKurus, commissionPercent)
  return Math.max(MIN_PRICE * 100, floorKurus ?? 0, forPayout, minOfferKurus ?? 0)
}

interface Target {
  /** before any limit */
  kurus: number
  /** the competing price that it is computed from; null for another target */
  follows: Input | null
  /** competing prices that were too low to follow */
  ignored: number
}

/** The target, or why there is none. */
function targetOf({ target, minComparables }: Terms, inputs: readonly Input[] | Reason): Target | Reason {
  if ('rule' in inputs) return inputs
  const count = inputs.length
  if (count < Math.max(1, minComparables)) return reason('price_few', { min: Math.max(1, minComparables), count })
  if (target.kind === 'cheapest') {
    const cheapest = cheapestOf(inputs)
    return { kurus: cheapest.follows.kurus + target.amountKurus, ...cheapest }
  }
  const basis = target.kind === 'market' ? inputs[0]!.kurus : median(inputs.map(({ kurus }) => kurus))!
  return { kurus: times(basis, target.factor), follows: null, ignored: 0 }
}

const FACTOR_PARTS = 10_000n

/** Rounds half a kuruş up; uses four decimals of the factor. */
function times(kurus: number, factor: number): number {
  const parts = BigInt(Math.round(factor * Number(FACTOR_PARTS)))
  return Number((BigInt(kurus) * parts + FACTOR_PARTS / 2n) / FACTOR_PARTS)
}
