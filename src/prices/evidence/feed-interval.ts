// Usual interval of a source's feeds, which determines when an unconfirmed price is stale.
import { DAY_MS } from '#core/duration.ts'

export interface FeedInterval {
  /** usual time between the dates of two feeds; null with fewer than two */
  intervalMs: number | null
  /** date of its newest feed; null without one */
  newestMs: number | null
  /** whether an operator has set the source aside */
  isSetAside: boolean
}

/** Number of a source's latest feeds from which its interval is computed. */
export const INTERVAL_FEEDS = 20

/**
 * The feed interval of a source.
 * @param feedDatesMs dates of its latest feeds in any order; several on one day (UTC) count as one
 */
export function feedIntervalOf(feedDatesMs: readonly number[], isSetAside: boolean): FeedInterval {
  const days = [...new Set(feedDatesMs.map((ms) => Math.floor(ms / DAY_MS)))].sort((a, b) => a - b).slice(-INTERVAL_FEEDS)
  const gaps = days.slice(1).map((day, i) => day - days[i]!)
  gaps.sort((a, b) => a - b)
  return {
    intervalMs: gaps.length === 0 ? null : gaps[gaps.length >> 1]! * DAY_MS,
    newestMs: feedDatesMs.length === 0 ? null : feedDatesMs.reduce((a, b) => Math.max(a, b)),
    isSetAside,
  }
}
