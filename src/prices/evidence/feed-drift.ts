// Recognises a feed whose prices are off as a whole: a shift since its last prices, or a currency mistaken for another. Pure.

/** The prices of a feed beside others of the same items and labels. */
export interface FeedComparison {
  /** with the source's own prices of the days before, its own last prices of any time, or the prices of another market */
  with: 'days_before' | 'last' | 'market'
  /** the other market; null for the source's own prices */
  other: number | null
  /** category whose prices these are; null for all */
  set: number | null
  cards: number
  /** median of the feed's prices divided by the others, in one currency */
  factor: number
}

export interface DriftLimits {
  /** fewest cards that show a drift */
  driftCards: number
  /** factor from the prices of the days before, and from all others */
  driftFactor: number
  driftMarketFactor: number
}

/** Exchange rates change, and so do usual ratios of markets. */
const NEAR_RATE = 1.25

/**
 * The comparison that shows a drift, of all prices or of a set; null if none does. Other markets count only for the first prices of a source: their
 * usual ratio may be any.
 */
export function driftOf(comparisons: readonly FeedComparison[], { driftCards, driftFactor, driftMarketFactor }: DriftLimits): FeedComparison | null {
  const most = (kind: FeedComparison['with']) => {
    const ofKind = comparisons.filter((one) => one.with === kind && one.set === null && one.cards >= driftCards)
    return ofKind.toSorted((a, b) => b.cards - a.cards)[0] ?? null
  }
  const last = most('last')
  const isFar = (one: FeedComparison | null, limit: number) => one !== null && Math.max(one.factor, 1 / one.factor) >= limit
  const [before, other] = [most('days_before'), last === null ? most('market') : null]
  if (isFar(before, driftFactor)) return before
  const whole = [last, other].find((one) => isFar(one, driftMarketFactor))
  return whole ?? comparisons.find((one) => one.set !== null && one.cards >= driftCards && isFar(one, driftFactor)) ?? null
}

/**
 * The currency whose amounts would be off by this factor if they were read as another one; null if none fits.
 * @param worths by currency: what one unit of it is worth, in units of the other one
 */
export function mistakenCurrency(factor: number, worths: ReadonlyMap<string, number>): string | null {
  const off = (worth: number) => Math.abs(Math.log(factor * worth))
  const [nearest] = [...worths].sort(([, a], [, b]) => off(a) - off(b))
  return nearest && off(nearest[1]) <= Math.log(NEAR_RATE) ? nearest[0] : null
}

/** The median of factors; NaN of none. @param logs their logarithms */
export function medianFactor(logs: readonly number[]): number {
  const sorted = Float64Array.from(logs).sort()
  const middle = sorted.length >> 1
  return Math.exp(sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2)
}
