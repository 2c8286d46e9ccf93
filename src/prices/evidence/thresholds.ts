// Thresholds of the evidence rules, which are settings (src/config.ts), and the comparisons shared by the rules.

/** Settings `PRICE_*`; docs/prices.md lists the rule of each. */
export interface Thresholds {
  /** factor from its own averages, or from the previous price, at which a price is held */
  holdFactor: number
  /** a PSA 10 below this share of the Near Mint price contradicts it */
  gradedShare: number
  /** hours ahead of now from which a date counts as in the future */
  futureHours: number
  /** factor from its feed's own averages at which a price is contradicted */
  ownFactor: number
  /** factor above the middle of its feed's offers at which a price is contradicted; below the lowest, `ownFactor` counts */
  offerFactor: number
  /** factor from a recently confirmed price of the same source at which a price is contradicted */
  jumpFactor: number
  /** largest factor by which a moving average plausibly changes within `averageDays` */
  averageFactor: number
  averageDays: number
  /** factor from the usual ratio at which two markets contradict each other */
  marketFactor: number
  /** exponent of the usual spread: two markets contradict each other only if they also differ by at least spread ** marketSpreads */
  marketSpreads: number
  /** multiplies the factor of a conflict if the condition of the lower price is not known */
  conditionFactor: number
  /** factor from the usual ratio at which two markets are in doubt; the doubt counts if a price's own figures point the same way */
  doubtFactor: number
  /** factor between two markets' amounts from which it is stated that only their usual ratio explains the difference */
  apartFactor: number
  /** factor from the usual ratio up to which two markets agree closely, which settles a jump */
  agreeFactor: number
  /** maximum days between two prices for comparing them */
  comparableDays: number
  /** days for which its source must keep confirming a jump to settle it */
  settleDays: number
  /** usual intervals of its source after which an unconfirmed price is stale */
  staleIntervals: number
  /** minimum usual interval of a source, in days; shorter ones count as this */
  staleDays: number
  /** days for which a source must have repeated a price for it to count as frozen */
  frozenDays: number
  /** factor by which another market must have moved meanwhile */
  frozenFactor: number
  /** a feed is refused if the median of at least so many prices is off by a factor from its own last prices, or from another market */
  driftCards: number
  driftFactor: number
  driftMarketFactor: number
  /** minimum prices of a day for a feed; fewer are single corrections */
  feedPrices: number
  /** differences below this amount, in euro, are noise */
  noise: number
}

/** Factor between two amounts, at least 1. */
export function factorBetween(minor: number, from: number): number {
  return minor > from ? minor / from : from / minor
}

/**
 * The side on which an amount differs from another by a factor or more, and by more than the noise in their currency.
 * @returns 1 above, -1 below, 0 if they are closer than that
 */
export function deviationSide(minor: number, from: number, factor: number, noiseMinor: number): -1 | 0 | 1 {
  if (Math.abs(minor - from) < noiseMinor) return 0
  if (minor >= from * factor) return 1
  return minor * factor <= from ? -1 : 0
}

/** Whether two amounts differ by a factor or more, and by more than the noise. */
export function isFar(minor: number, from: number, factor: number, noiseMinor: number): boolean {
  return deviationSide(minor, from, factor, noiseMinor) !== 0
}
