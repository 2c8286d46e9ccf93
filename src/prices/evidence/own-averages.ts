// Rule `own_averages`: a price against what its own feed says of the same card.
import { isFar, timesOff } from './thresholds.ts'
import type { Figures } from './types.ts'

/** Whether a feed's own figures contradict its price: every average that it gives is a factor away, all on one side. */
export function averagesAgainst(minor: number, figures: Figures, factor: number, noiseMinor: number): boolean {
  let given = 0
  for (const average of averagesOf(figures)) {
    if (!isFar(minor, average, factor, noiseMinor)) return false
    given += 1
  }
  return given > 0
}

/** The average nearest to the price, null where the feed gives none. */
export function nearestAverage(minor: number, figures: Figures): number | null {
  let nearest: number | null = null
  for (const average of averagesOf(figures)) {
    if (nearest === null || timesOff(minor, average) < timesOff(minor, nearest)) nearest = average
  }
  return nearest
}

/** Averages above zero; the middle of the offers counts as one. */
function averagesOf({ avg1, avg7, avg30, mid }: Figures): number[] {
  return [avg1, avg7, avg30, mid].filter((average) => average !== null && average > 0) as number[]
}
