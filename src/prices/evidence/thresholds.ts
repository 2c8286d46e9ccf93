// The thresholds of the evidence rules, which are settings (src/config.ts), and small comparisons that all rules share.

/** Settings `PRICE_*`; docs/prices.md says which rule each belongs to. */
export interface Thresholds {
  /** how many times off a price that is certainly wrong is */
  holdFactor: number
  /** a PSA 10 below this share of the Near Mint price contradicts it */
  gradedShare: number
  /** hours ahead of now from which a date is in the future */
  futureHours: number
  /** how many times off the feed's own averages contradict a price */
  ownFactor: number
  /** how many times off the usual ratio two markets contradict each other */
  marketFactor: number
  /** how many times its usual spread two markets must be apart at least */
  marketSpreads: number
  /** by how many times a moving average does not change within `averageDays` */
  averageFactor: number
  averageDays: number
  /** days between two prices up to which they say something about each other */
  comparableDays: number
  /** after how many of its source's usual intervals a price that was not confirmed is stale */
  staleIntervals: number
  /** usual interval of a source that has sent too few feeds to tell, and the shortest that counts, in days */
  staleDays: number
  /** differences below this amount of euro are noise */
  noise: number
}

/** How many times larger or smaller one amount is than another, at least 1. */
export function timesOff(minor: number, from: number): number {
  return minor > from ? minor / from : from / minor
}

/** Whether two amounts differ by a factor, and by more than what is noise in their currency. */
export function isFar(minor: number, from: number, factor: number, noiseMinor: number): boolean {
  return Math.abs(minor - from) >= noiseMinor && (minor >= from * factor || minor * factor <= from)
}
