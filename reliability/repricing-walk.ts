// Random markets of sellers with repricing rules, step by step: prices must not go below the floor, and rules must settle.
import { priceForPayout } from '#core/money.ts'
import { randomNumbers } from '#core/random.ts'
import { comparablePrices, type Offer } from '#market/records/comparables.ts'
import { newPrice } from '#market/repricing/new-price.ts'
import type { Terms } from '#market/repricing/terms.ts'
import { MIN_PRICE } from '#market/records/fields.ts'

export interface Walk {
  steps: number
  /** prices set below their floor, with the inputs */
  below: string[]
  /** markets that had not settled after the maximum number of rounds */
  unsettled: string[]
  markets: number
  /** maximum rounds that a market took */
  longest: number
}

export const ROUNDS = 20

interface Listed extends Offer {
  terms: Terms | null
  minOfferKurus: number | null
}

/** Runs a number of steps: each runs a rule, or a person changes a price, a source or a sale. */
export function walk(steps: number, seed: number): Walk {
  const random = randomNumbers(seed)
  const between = (low: number, high: number) => low + Math.floor(random() * (high - low + 1))
  const result: Walk = { steps: 0, below: [], unsettled: [], markets: 0, longest: 0 }
  while (result.steps < steps) {
    const market = randomMarket(random, between)
    result.markets += 1
    for (let change = 0; change < 5 && result.steps < steps; change += 1) {
      disturb(market, random, between)
      const rounds = settle(market, result)
      result.longest = Math.max(result.longest, rounds)
      if (rounds > ROUNDS) result.unsettled.push(JSON.stringify(market))
    }
  }
  return result
}

interface Market {
  listings: Listed[]
  commissionPercent: number
  sourceKurus: number | null
  sales: number[]
}

type Between = (low: number, high: number) => number

function randomMarket(random: () => number, between: Between): Market {
  const people = between(0, 3)
  const rules = between(1, 4)
  const listings = Array.from({ length: people + rules }, (_, i): Listed => {
    const kurus = between(100, 200_000)
    const minOfferKurus = random() < 0.2 ? between(1, kurus) : null
    return { listingId: i + 1, kurus, sellerId: i + 1, follows: false, minOfferKurus, terms: i < people ? null : randomTerms(random, between) }
  })
  return { listings, commissionPercent: between(0, 3_000) / 100, sourceKurus: null, sales: [] }
}

function randomTerms(random: () => number, between: Between): Terms {
  const kind = random()
  const factor = between(100, 30_000) / 10_000
  const floorKurus = random() < 0.8 ? between(100, 150_000) : null
  return {
    target:
      kind < 0.6
        ? { kind: 'cheapest', amountKurus: between(-5_000, 5_000) }
        : kind < 0.8
          ? { kind: 'market', market: 'source_a', factor }
          : { kind: 'median_sales', factor },
    floorKurus,
    floorPayoutKurus: floorKurus === null || random() < 0.3 ? between(100, 150_000) : null,
    ceilingKurus: random() < 0.4 ? Math.max(floorKurus ?? 0, between(100, 400_000)) : null,
    // With smaller limits, targets could not be reached within the rounds.
    maxMovePercent: random() < 0.3 ? between(60, 100) : null,
    minComparables: kind >= 0.6 && kind < 0.8 ? 1 : between(1, 2),
  }
}

/** Changes by people, markets and buyers between two rounds. */
function disturb(market: Market, random: () => number, between: Between): void {
  for (const listing of market.listings) {
    if (random() < 0.4) Object.assign(listing, { kurus: Math.max(listing.minOfferKurus ?? 100, between(100, 200_000)), follows: false })
  }
  if (random() < 0.5) market.sourceKurus = random() < 0.2 ? null : between(1, 500_000)
  if (random() < 0.3) market.sales.push(between(100, 300_000))
}

/** Runs every rule in turn until a round changes nothing. @returns the number of rounds; more than ROUNDS if they did not settle */
function settle(market: Market, result: Walk): number {
  for (let round = 1; round <= ROUNDS; round += 1) {
    let changed = false
    for (const listing of market.listings) {
      if (!listing.terms) continue
      result.steps += 1
      if (runOnce(market, listing, listing.terms, result)) changed = true
    }
    if (!changed) return round
  }
  return ROUNDS + 1
}

function runOnce(market: Market, listing: Listed, terms: Terms, result: Walk): boolean {
  const { commissionPercent } = market
  const { kurus } = newPrice(terms, {
    kurus: listing.kurus,
    minOfferKurus: listing.minOfferKurus,
    commissionPercent,
    marketKurus: market.sourceKurus,
    inputs: inputsOf(market, listing, terms),
  })
  const payout = terms.floorPayoutKurus === null ? 0 : priceForPayout(terms.floorPayoutKurus, commissionPercent)
  const floor = Math.max(MIN_PRICE * 100, terms.floorKurus ?? 0, payout, listing.minOfferKurus ?? 0)
  if (kurus < floor) result.below.push(JSON.stringify({ listing, market }))
  if (kurus === listing.kurus) return false
  Object.assign(listing, { kurus, follows: terms.target.kind === 'cheapest' })
  return true
}

function inputsOf(market: Market, listing: Listed, { target }: Terms) {
  if (target.kind === 'cheapest') return comparablePrices(market.listings, listing.sellerId)
  if (target.kind === 'median_sales') return market.sales.map((kurus) => ({ kurus }))
  return market.sourceKurus === null ? [] : [{ kurus: market.sourceKurus }]
}
