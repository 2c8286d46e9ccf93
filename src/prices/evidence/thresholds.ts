// The thresholds of the evidence rules, which are settings (src/config.ts), and the comparisons that the rules share.

/** Settings `PRICE_*`; docs/prices.md says which rule each belongs to. */
export interface Thresholds {
  /** how many times off its own averages, or the previous price it, a price is held */
  holdFactor: number
  /** a PSA 10 below this share of the Near Mint price contradicts it */
  gradedShare: number
  /** hours ahead of now from which a date is in the future */
  futureHours: number
  /** how many times off its feed's own averages a price is contradicted */
  ownFactor: number
  /** how many times above the middle, or below the lowest, of its feed's offers a price is contradicted */
  offerFactor: number
  /** how many times off a price of the same source that was confirmed recently a price is contradicted */
  jumpFactor: number
  /** by how many times a moving average does not change within `averageDays` */
  averageFactor: number
  averageDays: number
  /** how many times off the usual ratio two markets contradict each other */
  marketFactor: number
  /** by how many usual spreads, as a power, they must be apart at least */
  marketSpreads: number
  /** how many times off the usual ratio two markets are in doubt: enough where own figures point the same way */
  doubtFactor: number
  /** up to how many times off the usual ratio two markets agree closely, which settles a jump */
  agreeFactor: number
  /** days between two prices up to which they say something about each other */
  comparableDays: number
  /** days for which its source must go on confirming a jump until that settles it */
  settleDays: number
  /** after how many of its source's usual intervals a price that was not confirmed is stale */
  staleIntervals: number
  /** shortest usual interval of a source that counts, in days */
  staleDays: number
  /** fewest prices of a day that are a feed of their source, not single corrections */
  feedPrices: number
  /** differences below this amount of euro are noise */
  noise: number
}

/** How many times larger or smaller one amount is than another, at least 1. */
export function timesOff(minor: number, from: number): number {
  return minor > from ? minor / from : from / minor
}

/**
 * On which side of another amount an amount lies by a factor or more, and by more than what is noise in their currency.
 * @returns 1 above, -1 below, 0 where they are not that far apart
 */
export function sideOf(minor: number, from: number, factor: number, noiseMinor: number): -1 | 0 | 1 {
  if (Math.abs(minor - from) < noiseMinor) return 0
  if (minor >= from * factor) return 1
  return minor * factor <= from ? -1 : 0
}

/** Whether two amounts differ by a factor or more, and by more than what is noise. */
export function isFar(minor: number, from: number, factor: number, noiseMinor: number): boolean {
  return sideOf(minor, from, factor, noiseMinor) !== 0
}
