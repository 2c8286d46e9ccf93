// Rule `own_averages`: compares a price with its feed's own sales averages, or with its offers if it has none.
import { deviationSide, type Thresholds, factorBetween } from './thresholds.ts'
import type { Figures } from './evidence-types.ts'

/** What a feed's own figures say against its price. */
export interface OwnDoubt {
  /** 1 if the price is too high, -1 if it is too low */
  side: -1 | 1
  /** whether that alone contradicts the price; otherwise another market must point the same way */
  isCertain: boolean
  /** what contradicts it: sales, or only what sellers ask */
  basis: 'averages' | 'offers'
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
    return { side, isCertain: true, basis: 'averages', compared: factorBetween(minor, first) < factorBetween(minor, second) ? first : second }
  }
  if (!avg1) return null
  const middle = Math.max(Math.min(first, second), Math.min(Math.max(first, second), avg1))
  const middleSide = deviationSide(minor, middle, factor, noiseMinor)
  return middleSide === 0 ? null : { side: middleSide, isCertain: false, basis: 'averages', compared: middle }
}

function doubtOfOffers(minor: number, { low, mid }: Figures, { ownFactor, offerFactor }: Thresholds, noiseMinor: number): OwnDoubt | null {
  if (mid && deviationSide(minor, mid, ownFactor, noiseMinor) > 0) {
    return { side: 1, isCertain: deviationSide(minor, mid, offerFactor, noiseMinor) > 0, basis: 'offers', compared: mid }
  }
  // Noise is measured by the middle offer, because the lowest is often a few cents for any card.
  if (low && low > minor && deviationSide(minor, mid || low, 1, noiseMinor) < 0) {
    // Rare cards often have only a few, expensive offers: a price just below them is only in doubt, and another market that agrees clears any.
    return { side: -1, isCertain: deviationSide(minor, low, ownFactor, 0) < 0, basis: 'offers', compared: low }
  }
  if (mid && deviationSide(minor, mid, offerFactor * ownFactor, noiseMinor) < 0) return { side: -1, isCertain: false, basis: 'offers', compared: mid }
  return null
}

/** Factor from the middle of its averages at which a price's own sales decide a conflict against it: right in 84 of 100 real conflicts. */
export const DENY_FACTOR = 2

/**
 * Whether the sales of its own source deny a price on one side of another market's expectation: the middle of its averages is too far from it on that
 * side, or even its lowest offer is above what the other market expects. Offers without sales decide nothing: sellers ask what they like.
 * @param expected by the other market, in minor units
 * @param factor from the middle of the averages
 */
export function deniesItself(price: { minor: number } & Figures, side: -1 | 0 | 1, expected: number, factor: number, noiseMinor: number): boolean {
  const averages = [price.avg1, price.avg7, price.avg30].filter((average) => !!average) as number[]
  if (side === 0 || averages.length === 0) return false
  if (side > 0 && price.low && price.low > expected) return true
  averages.sort((a, b) => a - b)
  return deviationSide(price.minor, averages[averages.length >> 1]!, factor, noiseMinor) === side
}

/** The sales average nearest to the price; null if the feed gives none. */
export function nearestAverage(minor: number, { avg1, avg7, avg30 }: Figures): number | null {
  let nearest: number | null = null
  for (const average of [avg1, avg7, avg30]) {
    if (average && (nearest === null || factorBetween(minor, average) < factorBetween(minor, nearest))) nearest = average
  }
  return nearest
}
