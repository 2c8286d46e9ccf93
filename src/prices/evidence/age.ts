// Rule `old`: how long a source has not confirmed a price, relative to its usual feed interval.
import { DAY_MS } from '#core/duration.ts'
import type { FeedInterval } from './feed-interval.ts'
import type { Thresholds } from './thresholds.ts'

/**
 * A price is old if, since its source last stated it, at least one usual interval of the source has passed until the source's newest feed or until
 * another source stated the item. No price is old if all feeds have stopped, or if its source has too few feeds to know the interval.
 * @param heardMs when another source last stated the item; -Infinity if none did
 */
export function isOld(confirmedAtMs: number, heardMs: number, rhythm: FeedInterval | undefined, thresholds: Thresholds): boolean {
  const days = rhythm ? staleAfterDays(rhythm, thresholds) : null
  if (days === null) return false
  const newestMs = Math.max(rhythm?.newestMs ?? confirmedAtMs, heardMs)
  // In whole days, because feeds arrive a little earlier on some days.
  return Math.floor(newestMs / DAY_MS) - Math.floor(confirmedAtMs / DAY_MS) >= days
}

/** Days without a statement by its source after which a price is old; null if the source has too few feeds to know its interval. */
export function staleAfterDays({ intervalMs }: FeedInterval, { staleIntervals, staleDays }: Thresholds): number | null {
  return intervalMs === null ? null : Math.max(staleDays, (intervalMs / DAY_MS) * staleIntervals)
}
