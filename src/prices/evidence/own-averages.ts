// Rule `own_averages`: compares a price with its feed's own sales averages, or with its offers if it has none.
import { deviationSide, type Thresholds, factorBetween } from './thresholds.ts'
import type { Figures } from './evidence-types.ts'

/** What a feed's own figures say against its price. */
export interface OwnDoubt {
  /** 1 if the price is too high, -1 if it is too low */
  side: -1 | 1
  /** whether that alone contradicts the price; otherwise another market must point the same way */
  isCertain: boolean
  /** the figure that the price was compared with, in minor units */
  compared: number
}

/**
 * Compares a price with its feed's figures. The 7-day and 30-day averages must agree. The 1-day average is based on few sales, so it is only one of
 * three values of a median. Without averages, the offers are used.
 * @returns null if nothing contradicts the price
 */
export function ownDoubt(minor: number, figures: Figures, thresholds: Thresholds, noiseMinor: number): OwnDoubt | null {
  const { avg7, avg30 } = figures
  return avg7 || avg30 ? doubtOfAverages(minor, figures, thresholds.ownFactor, noiseMinor) : doubtOfOffers(minor, figures, thresholds, noiseMinor)
}

function doubtOfAverages(minor: number, { avg1, avg7, avg30 }: Figures, factor: number, noiseMinor: number): OwnDoubt | null {
  // Feeds write 0 for a missing average.
  const [first, second] = [avg7 || avg30!, avg30 || avg7!]
  const side = deviationSide(minor, first, factor, noiseMinor)
  if (side !== 0 && deviationSide(minor, second, factor, noiseMinor) === side) {
    return { side, isCertain: true, compared: factorBetween(minor, first) < factorBetween(minor, second) ? first : second }
  }
  if (!avg1) return null
  const middle = Math.max(Math.min(first, second), Math.min(Math.max(first, second), avg1))
  const middleSide = deviationSide(minor, middle, factor, noiseMinor)
  return middleSide === 0 ? null : { side: middleSide, isCertain: false, compared: middle }
}

function doubtOfOffers(minor: number, { low, mid }: Figures, { ownFactor, offerFactor }: Thresholds, noiseMinor: number): OwnDoubt | null {
  if (mid && deviationSide(minor, mid, ownFactor, noiseMinor) > 0) {
    return { side: 1, isCertain: deviationSide(minor, mid, offerFactor, noiseMinor) > 0, compared: mid }
  }
  // Noise is measured by the middle offer, because the lowest is often a few cents for any card.
  if (low && low > minor && deviationSide(minor, mid || low, 1, noiseMinor) < 0) {
    // Rare cards often have only a few, expensive offers: a price below them is in doubt, but not certainly wrong.
    return { side: -1, isCertain: deviationSide(minor, low, offerFactor, 0) < 0, compared: low }
  }
  if (mid && deviationSide(minor, mid, offerFactor * ownFactor, noiseMinor) < 0) return { side: -1, isCertain: false, compared: mid }
  return null
}

/** The sales average nearest to the price; null if the feed gives none. */
export function nearestAverage(minor: number, { avg1, avg7, avg30 }: Figures): number | null {
  let nearest: number | null = null
  for (const average of [avg1, avg7, avg30]) {
    if (average && (nearest === null || factorBetween(minor, average) < factorBetween(minor, nearest))) nearest = average
  }
  return nearest
}
