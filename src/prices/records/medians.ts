// Medians of a price over days, from the points of its history. Pure.
import { DAY_MS } from '#core/duration.ts'

/** Minor units: the middle amount, or the mean of the two middle ones, half a unit rounded up; null if there are none. */
export function median(minors: readonly number[]): number | null {
  if (minors.length === 0) return null
  const sorted = [...minors].sort((a, b) => a - b)
  return Math.floor((sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]! + 1) / 2)
}

/**
 * The median of the prices in effect now and at the same time on each of the previous days, `days` in total.
 * @param points oldest first, including the one in effect at the start
 * @returns null if no price was in effect on any of them
 */
export function medianOfDays(points: readonly { minor: number; atMs: number }[], nowMs: number, days: number): number | null {
  const standing: number[] = []
  for (let day = 0; day < days; day += 1) {
    const point = points.findLast(({ atMs }) => atMs <= nowMs - day * DAY_MS)
    if (point) standing.push(point.minor)
  }
  return median(standing)
}
