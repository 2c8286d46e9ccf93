// Computes the price a repricing rule sets for a listing, with the reason. Pure, so that runs, simulations and tests share it.
import { minorToNumber } from '#core/money.ts'
import { type Reason, reason } from '#core/problems.ts'
import { median } from '#prices/medians.ts'
import { MAX_PRICE, MIN_PRICE } from '../fields.ts'
import { priceForPayout } from '../payout.ts'
import type { Terms } from './terms.ts'

/** Facts about one listing; amounts in kuruş. */
export interface Facts {
  /** current price */
  kurus: number
  /** lowest acceptable offer; the price must not be below it */
  minOfferKurus: number | null
  commissionPercent: number
  /** inputs of the target: the market's price, comparable listings or sales; or why there are none */
  inputs: readonly number[] | Reason
}

export const PRICE_LIMITS = ['floor', 'ceiling', 'max_move'] as const
export type PriceLimit = (typeof PRICE_LIMITS)[number]

export interface NewPrice {
  /** the price to set; the current one if it stays */
  kurus: number
  /** the limit that kept the price from the target; null for none */
  limit: PriceLimit | null
  why: Reason
}

/** A listing that may be compared with another one. */
export interface Offer {
  kurus: number
  sellerId: number
  /** whether a rule with the target `cheapest` set its price */
  follows: boolean
}

/**
 * Prices to compare with: those of other sellers, except prices that follow others themselves. Two rules that undercut each other would otherwise
 * drive each other down to their floors.
 */
export function comparablePrices(offers: readonly Offer[], sellerId: number): number[] {
  return offers.filter((offer) => offer.sellerId !== sellerId && !offer.follows).map(({ kurus }) => kurus)
}

/** The price according to the rule, within its limits. The floor applies always, even if there is no target. */
export function newPrice(terms: Terms, facts: Facts): NewPrice {
  const lowest = lowestPrice(terms, facts)
  if (lowest > MAX_PRICE * 100) return { kurus: facts.kurus, limit: 'floor', why: reason('price_out_of_range') }
  const target = targetOf(terms, facts.inputs)
  if (typeof target !== 'number') {
    if (facts.kurus >= lowest) return { kurus: facts.kurus, limit: null, why: target }
    return { kurus: lowest, limit: 'floor', why: reason('price_below_floor', { floor: minorToNumber(lowest) }) }
  }
  const within = limited(target, { ...terms, lowest, before: facts.kurus })
  return { ...within, why: whyOf(within, target, terms) }
}

interface Within {
  kurus: number
  limit: PriceLimit | null
}

function limited(target: number, { lowest, before, ...terms }: Terms & { lowest: number; before: number }): Within {
  const highest = Math.min(MAX_PRICE * 100, terms.ceilingKurus ?? Infinity)
  const move = terms.maxMovePercent === null ? Infinity : Math.floor((before * terms.maxMovePercent) / 100)
  let [kurus, limit]: [number, PriceLimit | null] = [Math.min(before + move, Math.max(before - move, target)), null]
  if (kurus !== target) limit = 'max_move'
  if (kurus > highest) [kurus, limit] = [highest, 'ceiling']
  if (kurus < lowest) [kurus, limit] = [lowest, 'floor']
  return { kurus, limit }
}

function whyOf({ kurus, limit }: Within, targetKurus: number, { ceilingKurus, maxMovePercent }: Terms): Reason {
  const target = minorToNumber(targetKurus)
  switch (limit) {
    case 'floor':
      return reason('price_at_floor', { target, floor: minorToNumber(kurus) })
    case 'ceiling':
      return reason('price_at_ceiling', { target, ceiling: minorToNumber(ceilingKurus ?? MAX_PRICE * 100) })
    case 'max_move':
      return reason('price_move', { target, percent: maxMovePercent! })
    case null:
      return reason('price_target', { target })
  }
}

/** The lowest price the rule may set; Infinity if no price reaches the minimum payout. */
function lowestPrice({ floorKurus, floorPayoutKurus }: Terms, { minOfferKurus, commissionPercent }: Facts): number {
  const forPayout = floorPayoutKurus === null ? 0 : priceForPayout(floorPayoutKurus, commissionPercent)
  return Math.max(MIN_PRICE * 100, floorKurus ?? 0, forPayout, minOfferKurus ?? 0)
}

/** Target in kuruş before any limit, or why there is none. */
function targetOf({ target, minComparables }: Terms, inputs: readonly number[] | Reason): number | Reason {
  if ('rule' in inputs) return inputs
  const count = inputs.length
  if (count < Math.max(1, minComparables)) return reason('price_few', { min: Math.max(1, minComparables), count })
  switch (target.kind) {
    case 'market':
      return times(inputs[0]!, target.factor)
    case 'cheapest':
      return inputs.reduce((lowest, kurus) => Math.min(lowest, kurus)) + target.amountKurus
    case 'median_sales':
      return times(median(inputs)!, target.factor)
  }
}

const FACTOR_PARTS = 10_000n

/** Rounds half a kuruş up; uses four decimals of the factor. */
function times(kurus: number, factor: number): number {
  const parts = BigInt(Math.round(factor * Number(FACTOR_PARTS)))
  return Number((BigInt(kurus) * parts + FACTOR_PARTS / 2n) / FACTOR_PARTS)
}
