// An adversary that moves the service's own price: tries every combination of a few further sales, and returns the cheapest that works.
import { payoutKurus } from '#core/money.ts'
import { ownPriceOf, type OwnSale } from '#prices/own/own-price.ts'

const MINUTE_MS = 60_000

export interface SaleCosts {
  /** 0 to 100 */
  commissionPercent: number
  /** least cost of shipping a card, in kuruş */
  shippingMinor: number
}

/** A further sale: people and its price. */
interface Offer {
  sellerId: number
  /** undefined for a new buyer in each sale */
  buyer: string | null | undefined
  buyerAccountId: number | null
  minor: number
}

/**
 * The least cost of commission and shipping at which at most `most` further sales move the price by a tenth; null if none do.
 * It knows nothing of the rule for the cost: it only computes prices of whole histories.
 */
export function cheapestMove(history: readonly OwnSale[], nowMs: number, costs: SaleCosts, most: number): number | null {
  const before = ownPriceOf(history, nowMs).price!.minor
  let best: number | null = null
  for (const offers of offersOf(history, before, costs)) {
    const search = (from: number, added: readonly Offer[], spent: number): void => {
      if (added.length > 0 && hasMoved(before, priceWith(history, added, nowMs))) {
        best = spent
        return
      }
      if (added.length === most) return
      for (let n = from; n < offers.length; n += 1) {
        const cost = spent + costOf(offers[n]!, costs)
        if (best === null || cost < best) search(n, [...added, offers[n]!], cost)
      }
    }
    search(0, [], 0)
  }
  return best
}

function costOf({ minor }: Offer, { commissionPercent, shippingMinor }: SaleCosts): number {
  return minor - payoutKurus(minor, 1, commissionPercent) + shippingMinor
}

/** A price that sales back have removed has moved neither up nor down. */
function hasMoved(before: number, after: number | null): boolean {
  return after !== null && (after * 10 <= before * 9 || after * 10 >= before * 11)
}

function priceWith(history: readonly OwnSale[], added: readonly Offer[], nowMs: number): number | null {
  const sales = added.map((offer, n): OwnSale => {
    const id = 1_000_000 + n
    const buyer = offer.buyer === undefined ? `new ${n}` : offer.buyer
    return { ...offer, buyer, id, orderId: id, line: 1, soldAtMs: nowMs - MINUTE_MS, isCancelled: false, lowestAskMinor: null }
  })
  return ownPriceOf([...history, ...sales], nowMs).price?.minor ?? null
}

/**
 * Sales that can change the outcome: of pairs of the history, of new people, and back to sellers. With commission, one list with all prices that move a
 * median; without, a list for the lowest price and one for the highest, because a lower price of a sale never makes the result higher.
 */
function offersOf(history: readonly OwnSale[], before: number, { commissionPercent }: SaleCosts): Offer[][] {
  const up = Math.ceil((before * 11) / 10)
  const pairs = [...Map.groupBy(history, ({ sellerId, buyer }) => `${sellerId} ${buyer}`).values()]
  const sellers = [...new Set([...history.map(({ sellerId }) => sellerId), -1, -2, -3])]
  const offersAt = (pricesOf: (sales: readonly OwnSale[]) => number[]): Offer[] => [
    ...pairs.flatMap((sales) => {
      const { sellerId, buyer, buyerAccountId } = sales[0]!
      const again = [...new Set(pricesOf(sales))].map((minor): Offer => ({ sellerId, buyer, buyerAccountId, minor }))
      if (buyerAccountId === null) return again
      return [...again, { sellerId: buyerAccountId, buyer: `account ${sellerId}`, buyerAccountId: sellerId, minor: 1 }]
    }),
    ...sellers.flatMap((sellerId) =>
      [...new Set(pricesOf(history))].map((minor): Offer => ({ sellerId, buyer: undefined, buyerAccountId: null, minor })),
    ),
  ]
  if (commissionPercent === 0) return [offersAt(() => [1]), offersAt(() => [before * 1_000])]
  const raisedBy = (sales: readonly OwnSale[]) => sales.map(({ minor }) => 2 * up - 1 - minor).filter((minor) => minor > up)
  return [offersAt((sales) => [1, up, ...raisedBy(sales)])]
}

/** Sequences that are extended in each step of a beam. */
const BEAM = 24

/** The same for long histories: extends only the sequences of further sales whose prices have moved most for their cost. */
export function beamMove(history: readonly OwnSale[], nowMs: number, costs: SaleCosts, most: number): number | null {
  const before = ownPriceOf(history, nowMs).price!.minor
  let best: number | null = null
  for (const offers of offersOf(history, before, costs)) {
    let beam: { added: Offer[]; cost: number; change: number }[] = [{ added: [], cost: 0, change: 0 }]
    for (let n = 0; n < most; n += 1) {
      const next: typeof beam = []
      for (const { added, cost } of beam) {
        for (const offer of offers) {
          const spent = cost + costOf(offer, costs)
          if (best !== null && spent >= best) continue
          const sales = [...added, offer]
          const after = priceWith(history, sales, nowMs)
          if (hasMoved(before, after)) best = spent
          else next.push({ added: sales, cost: spent, change: Math.abs((after ?? before) - before) })
        }
      }
      // Some steps change nothing by themselves; the cheapest of them are kept beside those that have moved the price most.
      const byChange = next.toSorted((a, b) => b.change - a.change || a.cost - b.cost).slice(0, BEAM)
      const byCost = next.toSorted((a, b) => a.cost - b.cost).slice(0, BEAM)
      beam = [...new Set([...byChange, ...byCost])]
      if (beam.length === 0) break
    }
  }
  return best
}
