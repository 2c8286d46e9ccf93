// Confidence in a price: how likely it is within a factor of 1.5 of what its source states two weeks later.
import { DAY_MS } from '#core/duration.ts'
import { factorBetween } from './thresholds.ts'
import { type Backing, CONFIDENCES, type Confidence, type PriceEvidence, type PriceState } from './evidence-types.ts'

/** Number of sales or offers that is enough for confidence. */
const MANY_SAMPLES = 10
/** Averages of 7 and 30 days that are both within this factor of the price: points for them. */
const STEADY: readonly [factor: number, points: number][] = [
  [1.1, 2],
  [1.3, 1],
]
/** The middle of its offers is a better sign than averages: a price that is far from it is disputed. */
const OFFER_POINTS = 3
/** Amounts below twice the ignored difference seldom move by more than it; those below ten times move most, in proportion. */
const SMALL_NOISES = 2
const LARGE_NOISES = 10
/** A price confirmed longer ago than this has less confidence. */
const RECENT_DAYS = 30

/**
 * The points were fitted to the prices of 23 July 2026 that were stated again on 5 August 2026 (`bench/prices/evidence.ts`): on the sets that were kept out,
 * `high` is wrong in at most 0.5 %, `medium` in 2 % and `low` in 6 %. A stale price has at most `low`.
 * @param backing what other markets say about it
 * @param noiseMinor differences below this are ignored
 */
export function confidenceOf(price: PriceEvidence, state: PriceState, backing: Backing, noiseMinor: number, nowMs: number): Confidence {
  if (state === 'disputed') return 'insufficient'
  let points = pointsOf(price, backing, noiseMinor)
  if (nowMs - price.confirmedAtMs > RECENT_DAYS * DAY_MS) points -= 1
  if (state === 'stale') points = Math.min(points, 1)
  return CONFIDENCES[Math.max(0, Math.min(points, 3))]!
}

function pointsOf(price: PriceEvidence, backing: Backing, noiseMinor: number): number {
  const figures = figurePoints(price)
  const hasSamples = price.samples !== null && price.samples >= MANY_SAMPLES
  const isBacked = backing === 'close' || backing === 'agreed'
  if (figures === null && !isBacked && !hasSamples) return 0
  const size = price.minor < SMALL_NOISES * noiseMinor ? 1 : price.minor < LARGE_NOISES * noiseMinor ? -1 : 0
  const points = (figures ?? 0) + size + (hasSamples ? 1 : 0) + (isBacked ? 1 : 0) - (backing === 'contradicted' ? 1 : 0)
  // Agreement alone does not make a large amount certain.
  return size > 0 || (size === 0 && figures === OFFER_POINTS) ? points : Math.min(points, 2)
}

/** Points for the feed's own figures; null if there are none. */
function figurePoints({ minor, avg1, avg7, avg30, low, mid }: PriceEvidence): number | null {
  if (avg1 || avg7 || avg30) {
    if (!avg7 || !avg30) return 0
    return STEADY.find(([factor]) => factorBetween(minor, avg7) <= factor && factorBetween(minor, avg30) <= factor)?.[1] ?? 0
  }
  if (mid) return OFFER_POINTS
  return low ? 0 : null
}

/** The confidence in a price from our own sales. @param samples number of pairs of seller and buyer behind it; null if unknown */
export function confidenceOfSales(samples: number | null, state: PriceState): Confidence {
  if (state === 'disputed' || state === 'unproven' || samples === null || samples < 2) return 'insufficient'
  if (state === 'stale') return 'low'
  return samples < 4 ? 'low' : samples < 8 ? 'medium' : 'high'
}
