// Rules `jump` and `average_jump`: compares a price and its averages with the source's previous ones. Evaluated when a price arrives, because the
// previous figures are not kept; the result stays a flag of the price until it is settled.
import { DAY_MS } from '#core/duration.ts'
import { isFar, type Thresholds, factorBetween } from './thresholds.ts'
import { bitsOf, type Figures, NEUTRAL_FLAGS, type PriceState } from './evidence-types.ts'

/** A published price that a newer one of the same item, market and label replaces. */
export interface LastPrice {
  minor: number
  /** when its feed last stated it */
  confirmedAtMs: number
  state: PriceState
  /** bits of FLAGS */
  flags: number
  /** null if its feed stated none, or if they were not stored */
  figures: Figures | null
}

/** A price as a feed states it. */
export interface StatedPrice {
  minor: number
  updatedAtMs: number
  figures: Figures | null
}

const JUMP = bitsOf(['jump'])
const IDENTICAL = bitsOf(['identical_figures'])
const AVERAGE_JUMP = bitsOf(['average_jump'])
const JUMPS = JUMP | AVERAGE_JUMP

/**
 * Evidence against a price that replaces another: bits of `jump` and `average_jump`, stored among its flags and passed to `judge` as `jumped` and
 * `averageJumped`.
 */
export function jumpsOf(now: StatedPrice, last: LastPrice | null, noiseMinor: number, thresholds: Thresholds): number {
  if (!last) return 0
  const { jumpFactor, averageFactor, averageDays } = thresholds
  const apartMs = now.updatedAtMs - last.confirmedAtMs
  if (apartMs > thresholds.comparableDays * DAY_MS) return 0
  const isJump = isFar(now.minor, last.minor, jumpFactor, noiseMinor)
  // A jump remains flagged while the source repeats the price with small changes, because repetition does not prove it right.
  const earlierJumps = isJump ? 0 : last.flags & JUMPS
  // Don't judge a price by a predecessor that has contrary evidence or no recent confirmation. Identical figures are an exception: either item may be
  // the right one, so a successor that differs widely is disputed, but never held.
  if (last.state !== 'trusted' && (last.flags & ~NEUTRAL_FLAGS) !== IDENTICAL) return earlierJumps
  const jump = isJump && !isExplained(now, last, thresholds, noiseMinor) ? JUMP : 0
  const [average, before] = [now.figures?.avg30, last.figures?.avg30]
  const moved = average && before && apartMs <= averageDays * DAY_MS && isFar(average, before, averageFactor, noiseMinor)
  return earlierJumps | jump | (moved ? AVERAGE_JUMP : 0)
}

/**
 * Whether a jump looks real: the 7-day average has followed and the 30-day average has not yet. If the 30-day average has moved as far as the price,
 * all figures belong to another card.
 */
export function isExplained(
  { minor, figures }: Omit<StatedPrice, 'updatedAtMs'>,
  last: LastPrice,
  { ownFactor }: Thresholds,
  noiseMinor: number,
): boolean {
  const before = last.figures
  if (!figures?.avg7 || !figures.avg30 || !before?.avg30) return false
  return !isFar(minor, figures.avg7, ownFactor, noiseMinor) && factorBetween(figures.avg30, before.avg30) ** 2 <= factorBetween(minor, last.minor)
}
