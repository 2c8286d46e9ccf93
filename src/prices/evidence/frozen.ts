// Rule `frozen`: a source that repeats a price while another market reports moves.
import { DAY_MS } from '#core/duration.ts'
import { factorBetween, type Thresholds } from './thresholds.ts'

/** Reports of another market that must differ from the one that was in effect when the price was set: a single one may be a mistake of that market. */
const MIN_REPORTS = 3

/**
 * Whether a price is frozen: its source has repeated it for long enough, while another market has moved away from where it was when the source set the
 * price, in three reports or more, the newest of them included. A price without another market is not frozen: it may just be slow.
 * @param before the other market's amount when the source set the price, in minor units
 * @param since its other amounts since, oldest first
 */
export function isFrozen(
  { updatedAtMs, confirmedAtMs }: { updatedAtMs: number; confirmedAtMs: number },
  before: number,
  since: readonly number[],
  { frozenDays, frozenFactor }: Thresholds,
  noiseMinor: number,
): boolean {
  if (confirmedAtMs - updatedAtMs < frozenDays * DAY_MS) return false
  const hasMoved = (minor: number) => factorBetween(minor, before) >= frozenFactor && Math.abs(minor - before) >= noiseMinor
  const newest = since.at(-1)
  return newest !== undefined && hasMoved(newest) && since.filter(hasMoved).length >= MIN_REPORTS
}
