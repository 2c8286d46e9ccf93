// Rule `own_averages`: compares a price with its feed's own averages of sales, or else its offers.
import { sideOf, type Thresholds, timesOff } from './thresholds.ts'
import type { Figures } from './types.ts'

/** What a feed's own figures say of its price. */
export interface OwnDoubt {
  /** 1 when the price is too high for them, -1 when it is too low */
  side: -1 | 1
  /** whether that alone contradicts the price; else it takes another market that points the same way */
  isCertain: boolean
  /** the figure that the price was compared with, in minor units */
  compared: number
}

/**
 * Compares a price with its feed's figures. The averages of 7 and 30 days decide together; the average of a day is of so few
 * sales that it only counts in the middle of the three. A feed without averages is judged by its offers.
 * @returns null if nothing speaks against the price
 */
export function ownDoubt(minor: number, figures: Figures, thresholds: Thresholds, noiseMinor: number): OwnDoubt | null {
  const { avg7, avg30 } = figures
  return avg7 || avg30 ? doubtOfAverages(minor, figures, thresholds.ownFactor, noiseMinor) : doubtOfOffers(minor, figures, thresholds, noiseMinor)
}

function doubtOfAverages(minor: number, { avg1, avg7, avg30 }: Figures, factor: number, noiseMinor: number): OwnDoubt | null {
  // Zero is how feeds write that there is none.
  const [first, second] = [avg7 || avg30!, avg30 || avg7!]
  const side = sideOf(minor, first, factor, noiseMinor)
  if (side !== 0 && sideOf(minor, second, factor, noiseMinor) === side) {
    return { side, isCertain: true, compared: timesOff(minor, first) < timesOff(minor, second) ? first : second }
  }
  if (!avg1) return null
  const middle = Math.max(Math.min(first, second), Math.min(Math.max(first, second), avg1))
  const middleSide = sideOf(minor, middle, factor, noiseMinor)
  return middleSide === 0 ? null : { side: middleSide, isCertain: false, compared: middle }
}

function doubtOfOffers(minor: number, { low, mid }: Figures, { ownFactor, offerFactor }: Thresholds, noiseMinor: number): OwnDoubt | null {
  if (mid && sideOf(minor, mid, ownFactor, noiseMinor) > 0) {
    return { side: 1, isCertain: sideOf(minor, mid, offerFactor, noiseMinor) > 0, compared: mid }
  }
  // What is noise shows at the middle of the offers; the lowest is often a few cents for any card.
  if (low && low > minor && sideOf(minor, mid || low, 1, noiseMinor) < 0) {
    // Few offers, all of them expensive, are common for rare cards: below them is only a doubt.
    return { side: -1, isCertain: sideOf(minor, low, offerFactor, 0) < 0, compared: low }
  }
  if (mid && sideOf(minor, mid, offerFactor * ownFactor, noiseMinor) < 0) return { side: -1, isCertain: false, compared: mid }
  return null
}

/** The average of sales nearest to the price, null if the feed gives none. */
export function nearestAverage(minor: number, { avg1, avg7, avg30 }: Figures): number | null {
  let nearest: number | null = null
  for (const average of [avg1, avg7, avg30]) {
    if (average && (nearest === null || timesOff(minor, average) < timesOff(minor, nearest))) nearest = average
  }
  return nearest
}
