// Rule `old`: how long a source has not confirmed a price, against how often it sends feeds, while others were confirmed.
import { DAY_MS } from '#core/duration.ts'
import type { Rhythm } from './rhythm.ts'
import type { Thresholds } from './thresholds.ts'

/**
 * Whether a price is old: since its source last stated it, at least one usual interval of the source has passed until
 * the source's newest feed, or until another source stated the item. Where everything stands still, nothing is old, and
 * neither are the prices of a source that has sent too few feeds to tell how often it does.
 * @param heardMs when another source last stated the item, -Infinity where none did
 */
export function isOld(confirmedAtMs: number, heardMs: number, rhythm: Rhythm | undefined, thresholds: Thresholds): boolean {
  const days = rhythm ? staleAfterDays(rhythm, thresholds) : null
  if (days === null) return false
  const newestMs = Math.max(rhythm?.newestMs ?? confirmedAtMs, heardMs)
  // In whole days, because a feed comes a little earlier on one day than on another.
  return Math.floor(newestMs / DAY_MS) - Math.floor(confirmedAtMs / DAY_MS) >= days
}

/** Days without a word of its source after which a price is old; null if the source has sent too few feeds to tell. */
export function staleAfterDays({ intervalMs }: Rhythm, { staleIntervals, staleDays }: Thresholds): number | null {
  return intervalMs === null ? null : Math.max(staleDays, (intervalMs / DAY_MS) * staleIntervals)
}
