// Rule `frozen`: a source that repeats a price while another market reports moves.
import { DAY_MS } from '#core/duration.ts'
import type { Figures } from './evidence-types.ts'
import { factorBetween, type Thresholds } from './thresholds.ts'

/** Reports of another market that must differ from the one that was in effect when the price was set: a single one may be a mistake of that market. */
const MIN_REPORTS = 3

const FIGURES = ['avg1', 'avg7', 'avg30', 'low', 'mid', 'high', 'samples'] as const

/** Whether a feed states another value for a figure than before; figures that only one of both states do not count, because lists of a source may take turns. */
export function figuresHaveMoved(before: Figures, after: Figures): boolean {
  return FIGURES.some((name) => before[name] !== null && after[name] !== null && before[name] !== after[name])
}

/**
 * Whether a price is frozen: its source has repeated it and its figures for long enough, while another market has moved away from where it was when that
 * began, in three reports or more, the newest of them included. A price without another market is not frozen: it may just be slow.
 * @param sinceMs when the source last stated another amount or another figure of the price
 * @param before the other market's amount at that time, in minor units
 * @param since its other amounts since, oldest first
 */
export function isFrozen(
  { sinceMs, confirmedAtMs }: { sinceMs: number; confirmedAtMs: number },
  before: number,
  since: readonly number[],
  { frozenDays, frozenFactor }: Thresholds,
  noiseMinor: number,
): boolean {
  if (confirmedAtMs - sinceMs < frozenDays * DAY_MS) return false
  const hasMoved = (minor: number) => factorBetween(minor, before) >= frozenFactor && Math.abs(minor - before) >= noiseMinor
  const newest = since.at(-1)
  return newest !== undefined && hasMoved(newest) && since.filter(hasMoved).length >= MIN_REPORTS
}
