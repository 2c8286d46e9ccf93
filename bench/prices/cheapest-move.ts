// An adversary that moves the service's own price: tries every combination of a few further sales, and returns the cheapest that works.
import { payoutKurus } from '#core/money.ts'
import type { SaleCosts } from '#prices/own/cost-to-move.ts'
import { ownPriceOf, type OwnSale } from '#prices/own/own-price.ts'

const MINUTE_MS = 60_000

/** A further sale: people and its price. */
interface Offer {
  sellerId: number
  buyer: string
  minor: number
}

/**
 * The least cost of commission and shipping at which at most `most` further sales move the price by a tenth; null if none do.
 * It knows nothing of the rule for the cost: it only computes prices of whole histories.
 */
export function cheapestMove(history: readonly OwnSale[], nowMs: number, costs: SaleCosts, most: number): number | null {
  const before = ownPriceOf(history, nowMs).price!.minor
  const offers = offersOf(history, before)
  let best: number | null = null
  const search = (from: number, added: readonly Offer[], spent: number): void => {
    if (added.length > 0 && hasMoved(before, priceWith(history, added, nowMs))) {
      best = spent
      return
    }
    if (added.length === most) return
    for (let n = from; n < offers.length; n += 1) {
      const offer = offers[n]!
      const cost = spent + offer.minor - payoutKurus(offer.minor, 1, costs.commissionPercent) + costs.shippingMinor
      if (best === null || cost < best) search(n, [...added, offer], cost)
    }
  }
  search(0, [], 0)
  return best
}

function hasMoved(before: number, after: number): boolean {
  return after * 10 <= before * 9 || after * 10 >= before * 11
}

function priceWith(history: readonly OwnSale[], added: readonly Offer[], nowMs: number): number {
  const sales = added.map((offer, n): OwnSale => {
    const id = 1_000_000 + n
    return { ...offer, id, orderId: id, line: 1, buyerAccountId: null, soldAtMs: nowMs - MINUTE_MS, isCancelled: false, lowestAskMinor: null }
  })
  return ownPriceOf([...history, ...sales], nowMs).price!.minor
}

/** Sales that can change the outcome: of pairs of the history at prices that move their median, and of new people. */
function offersOf(history: readonly OwnSale[], before: number): Offer[] {
  const up = Math.ceil((before * 11) / 10)
  const usual = [1, up]
  const raisedBy = (sales: readonly OwnSale[]) => sales.map(({ minor }) => 2 * up - 1 - minor).filter((minor) => minor > up)
  const pairs = Map.groupBy(history, ({ sellerId, buyer }) => `${sellerId} ${buyer}`)
  const ofPairs = [...pairs.values()].flatMap((sales) => {
    const { sellerId, buyer } = sales[0]!
    return [...new Set([...usual, ...raisedBy(sales)])].map((minor): Offer => ({ sellerId, buyer: buyer ?? 'new', minor }))
  })
  const sellers = [...new Set([...history.map(({ sellerId }) => sellerId), -1, -2, -3])]
  const joining = sellers.flatMap((sellerId) => usual.map((minor): Offer => ({ sellerId, buyer: `new ${sellerId}`, minor })))
  const raising = [...new Set(raisedBy(history))].map((minor): Offer => ({ sellerId: -1, buyer: 'new -1', minor }))
  return [...ofPairs, ...joining, ...raising]
}

/** Sequences that are extended in each step of a beam. */
const BEAM = 24

/** The same for long histories: extends only the sequences of further sales whose prices have moved most for their cost. */
export function beamMove(history: readonly OwnSale[], nowMs: number, costs: SaleCosts, most: number): number | null {
  const before = ownPriceOf(history, nowMs).price!.minor
  const offers = offersOf(history, before)
  const costOf = ({ minor }: Offer) => minor - payoutKurus(minor, 1, costs.commissionPercent) + costs.shippingMinor
  let best: number | null = null
  let beam: { added: Offer[]; cost: number; change: number }[] = [{ added: [], cost: 0, change: 0 }]
  for (let n = 0; n < most; n += 1) {
    const next: typeof beam = []
    for (const { added, cost } of beam) {
      for (const offer of offers) {
        const spent = cost + costOf(offer)
        if (best !== null && spent >= best) continue
        const sales = [...added, offer]
        const after = priceWith(history, sales, nowMs)
        if (hasMoved(before, after)) best = spent
        else next.push({ added: sales, cost: spent, change: Math.abs(after - before) })
      }
    }
    // Some steps change nothing by themselves; the cheapest of them are kept beside those that have moved the price most.
    const byChange = next.toSorted((a, b) => b.change - a.change || a.cost - b.cost).slice(0, BEAM)
    const byCost = next.toSorted((a, b) => a.cost - b.cost).slice(0, BEAM)
    beam = [...new Set([...byChange, ...byCost])]
    if (beam.length === 0) break
  }
  return best
}
