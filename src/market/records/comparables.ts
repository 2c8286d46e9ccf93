// The cheapest price to compare with: one outlier or one seller with many listings does not decide it. Pure.
import { median } from '#prices/records/medians.ts'

/** A price that another one is compared with or computed from. */
export interface Input {
  kurus: number
  /** the listing with this price, if it is the price of one */
  listingId?: number
}

/** A listing that may be compared with another one. */
export interface Offer {
  listingId: number
  kurus: number
  sellerId: number
  /** whether a repricing rule with the target `cheapest` set its price */
  follows: boolean
}

/**
 * Prices to compare with: the lowest of each other seller, so that nobody counts twice, except prices that follow others themselves. Two rules that
 * undercut each other would otherwise drive each other down to their floors.
 */
export function comparablePrices(offers: readonly Offer[], sellerId: number): Input[] {
  const bySeller = new Map<number, Input>()
  for (const { sellerId: seller, follows, kurus, listingId } of offers) {
    if (seller === sellerId || follows) continue
    const lowest = bySeller.get(seller)
    if (!lowest || kurus < lowest.kurus) bySeller.set(seller, { kurus, listingId })
  }
  return [...bySeller.values()]
}

/** A price below the median divided by this factor is an outlier. */
const OUTLIER_FACTOR = 2
/** Among fewer prices, none can be told to be the outlier, so the cheapest says little about the market. */
export const MIN_COMPARABLES = 3

/** The lowest of at least one price that is not an outlier, and the number of outliers below it. */
export function cheapestOf(prices: readonly Input[]): { follows: Input; ignored: number } {
  const middle = prices.length < MIN_COMPARABLES ? 0 : median(prices.map(({ kurus }) => kurus))!
  const usable = prices.filter(({ kurus }) => kurus * OUTLIER_FACTOR >= middle)
  return {
    follows: usable.reduce((lowest, one) => (one.kurus < lowest.kurus ? one : lowest)),
    ignored: prices.length - usable.length,
  }
}
