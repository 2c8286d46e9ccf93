// Rule `average_jump`: a moving average that changes by more than it can in so short a time is of another card.
import { DAY_MS } from '#core/duration.ts'
import { isFar, type Thresholds } from './thresholds.ts'
import type { Figures } from './types.ts'

/**
 * Whether the 30-day average of a feed changed too much since the same feed's figures before. Asked when a price arrives;
 * the answer is stored, as the figures before are not.
 * @param apartMs time between the two
 */
export function averageJumped(
  now: Figures,
  before: Figures,
  apartMs: number,
  noiseMinor: number,
  { averageFactor, averageDays }: Thresholds,
): boolean {
  if (apartMs > averageDays * DAY_MS || !now.avg30 || !before.avg30) return false
  return isFar(now.avg30, before.avg30, averageFactor, noiseMinor)
}
