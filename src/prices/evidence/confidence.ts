// How much a price can be relied upon: how many sources agree, of how many sales it is, how old it is, how its figures spread.
import { DAY_MS } from '#core/duration.ts'
import { timesOff } from './thresholds.ts'
import { CONFIDENCES, type Confidence, type PriceEvidence, type PriceState } from './types.ts'

/** From how many sales or offers on a price is of enough. */
const MANY_SAMPLES = 10
/** Averages of 7 and 30 days within this factor of the price are steady. */
const STEADY_FACTOR = 1.3
/** A price confirmed longer ago than this counts for less. */
const RECENT_DAYS = 30

/**
 * The confidence in a price: a point each for another market that agrees, for many samples, and for averages that are steady;
 * one less when it was not confirmed for a month. A price that is not trusted has no more than `low`.
 * @param agreeing how many other markets agree with it
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

/** Of a price of our own sales: by their number, null if it is not known. */
export function confidenceOfSales(samples: number | null): Confidence {
  if (samples === null || samples < 2) return 'insufficient'
  return samples < 4 ? 'low' : samples < 8 ? 'medium' : 'high'
}

function isSteady({ minor, avg7, avg30 }: PriceEvidence): boolean {
  if (!avg7 || !avg30) return false
  return timesOff(minor, avg7) <= STEADY_FACTOR && timesOff(minor, avg30) <= STEADY_FACTOR
}
