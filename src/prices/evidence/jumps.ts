// Rules `jump` and `average_jump`: a price and its averages against what the same source said before. Asked when a price
// arrives, because the figures before it are not kept; what they found stays a flag of the price until it is settled.
import { DAY_MS } from '#core/duration.ts'
import { isFar, type Thresholds, timesOff } from './thresholds.ts'
import { bitsOf, type Figures, type Flag, type PriceState } from './types.ts'

/** A published price that a newer one of the same item, market and label replaces. */
export interface LastPrice {
  minor: number
  /** when its feed last stated it */
  confirmedAtMs: number
  state: PriceState
  /** bits of FLAGS */
  flags: number
  /** null if its feed stated none, or they were not kept */
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
const NO_RATE = bitsOf(['no_rate'])
const AVERAGE_JUMP = bitsOf(['average_jump'])
const JUMPS = JUMP | AVERAGE_JUMP

/**
 * What speaks against a price that replaces another: bits of `jump` and `average_jump`, to be stored among its flags and
 * handed to `judge` as `jumped` and `averageJumped`.
 */
export function jumpsOf(now: StatedPrice, last: LastPrice | null, noiseMinor: number, thresholds: Thresholds): number {
  if (!last) return 0
  const { jumpFactor, averageFactor, averageDays } = thresholds
  const apartMs = now.updatedAtMs - last.confirmedAtMs
  if (apartMs > thresholds.comparableDays * DAY_MS) return 0
  const isJump = isFar(now.minor, last.minor, jumpFactor, noiseMinor)
  // A wrong price that its source repeats with small changes does not become right by that.
  const kept = isJump ? 0 : last.flags & JUMPS
  // What comes after a price that something speaks against, or that nobody confirms, is not to be judged by it. Only after
  // identical figures it is open which item they were of: what is far from them is disputed, too, though never held.
  if (last.state !== 'trusted' && (last.flags & ~NO_RATE) !== IDENTICAL) return kept
  const jump = isJump && !isExplained(now, last, thresholds, noiseMinor) ? JUMP : 0
  const [average, before] = [now.figures?.avg30, last.figures?.avg30]
  const moved = average && before && apartMs <= averageDays * DAY_MS && isFar(average, before, averageFactor, noiseMinor)
  return kept | jump | (moved ? AVERAGE_JUMP : 0)
}

/** Whether a flag is one that `jumpsOf` gives. */
export function isJumpFlag(flag: Flag): boolean {
  return flag === 'jump' || flag === 'average_jump'
}

/**
 * Whether a jump is what a real one looks like: the average of 7 days has followed, and that of 30 days has not yet. Where
 * that one has moved as far as the price, all figures are of another card.
 */
export function isExplained(
  { minor, figures }: Omit<StatedPrice, 'updatedAtMs'>,
  last: LastPrice,
  { ownFactor }: Thresholds,
  noiseMinor: number,
): boolean {
  const before = last.figures
  if (!figures?.avg7 || !figures.avg30 || !before?.avg30) return false
  return !isFar(minor, figures.avg7, ownFactor, noiseMinor) && timesOff(figures.avg30, before.avg30) ** 2 <= timesOff(minor, last.minor)
}
