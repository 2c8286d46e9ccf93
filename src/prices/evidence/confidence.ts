// Confidence in a price: how many sources agree, how many sales it is based on, how old it is, and how much its figures vary.
import { DAY_MS } from '#core/duration.ts'
import { factorBetween } from './thresholds.ts'
import { CONFIDENCES, type Confidence, type PriceEvidence, type PriceState } from './evidence-types.ts'

/** Number of sales or offers that is enough for confidence. */
const MANY_SAMPLES = 10
/** Averages are steady if the 7-day and the 30-day average are both within this factor of the price. */
const STEADY_FACTOR = 1.3
/** A price confirmed longer ago than this has less confidence. */
const RECENT_DAYS = 30

/**
 * Adds a point for each other market that agrees (at most two), one for many samples and one for steady averages, and subtracts one if the price has
 * not been confirmed for a month. A price that is not trusted has at most `low`.
 * @param agreeing number of other markets that agree with it
 */
export function confidenceOf(price: PriceEvidence, state: PriceState, agreeing: number, nowMs: number): Confidence {
  if (state === 'disputed') return 'insufficient'
  let points = Math.min(agreeing, 2)
  if (price.samples !== null && price.samples >= MANY_SAMPLES) points += 1
  if (isSteady(price)) points += 1
  if (nowMs - price.confirmedAtMs > RECENT_DAYS * DAY_MS) points -= 1
  if (state === 'stale') points = Math.min(points, 1)
  return CONFIDENCES[Math.max(0, Math.min(points, 3))]!
}

/** The confidence in a price from our own sales. @param samples number of pairs of seller and buyer behind it; null if unknown */
export function confidenceOfSales(samples: number | null, state: PriceState): Confidence {
  if (state === 'disputed' || state === 'unproven' || samples === null || samples < 2) return 'insufficient'
  if (state === 'stale') return 'low'
  return samples < 4 ? 'low' : samples < 8 ? 'medium' : 'high'
}

function isSteady({ minor, avg7, avg30 }: PriceEvidence): boolean {
  if (!avg7 || !avg30) return false
  return factorBetween(minor, avg7) <= STEADY_FACTOR && factorBetween(minor, avg30) <= STEADY_FACTOR
}
