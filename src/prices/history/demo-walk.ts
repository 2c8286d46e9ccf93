// The invented price movements of the demo: the same for the same item and number of days ago.
import { DAY_MS } from '#core/duration.ts'
import { randomNumbers } from '#core/random.ts'

/** Days of history in the demo. */
export const DEMO_DAYS = 730

/** Daily noise, and the pull back towards the trend, of the logarithm of a price. */
const NOISE = 0.022
const PULL = 0.012
/** The trend over the whole history, as logarithms: from a loss of a fifth to a price that is two and a half times as high. */
const TREND = [-0.22, 0.92] as const

const walks = new Map<number, Float64Array>()

/**
 * The price of an item on earlier days, as a factor of its current price.
 * @returns the factor by the number of days ago; the first is 1
 */
export function demoWalk(itemId: number): Float64Array {
  const cached = walks.get(itemId)
  if (cached) return cached
  const random = randomNumbers(itemId * 7919)
  const rise = TREND[0] + random() * (TREND[1] - TREND[0])
  const walk = new Float64Array(DEMO_DAYS + 1)
  let log = 0
  for (let day = 0; day <= DEMO_DAYS; day += 1) {
    walk[day] = Math.exp(log - (rise * day) / DEMO_DAYS)
    log += NOISE * (random() + random() + random() - 1.5) * 2 - PULL * log
  }
  walks.set(itemId, walk)
  return walk
}

/** The factor at a time, for things that were sold then. */
export function demoFactor(itemId: number, at: Date, now: Date): number {
  const day = Math.floor((now.getTime() - at.getTime()) / DAY_MS)
  return demoWalk(itemId)[Math.min(DEMO_DAYS, Math.max(0, day))]!
}
