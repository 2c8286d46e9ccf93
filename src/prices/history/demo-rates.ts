// The invented exchange rates of the demo: one for each month of its history, and yesterday's.
import { DAY_MS } from '#core/duration.ts'
import { randomNumbers } from '#core/random.ts'
import { DEMO_DAYS } from './demo-walk.ts'
import type { Rate } from '../rates/rate-rows.ts'

/** Lira for one unit today. */
const TODAY: Record<string, number> = { USD: 41.87, EUR: 48.31 }
/** What the lira loses to other currencies in a month, as a share. */
const MONTHLY_LOSS = 0.016

/** Rates for the first day of each month, oldest first, and for yesterday: prices of the last day need one. */
export function demoRates(now: Date): Rate[] {
  const yesterday = now.getTime() - DAY_MS
  const months = Math.ceil(DEMO_DAYS / 30) + 1
  const first = (back: number) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1)
  const days = [...Array.from({ length: months }, (_, i) => first(months - 1 - i)).filter((ms) => ms < yesterday), yesterday]
  return Object.entries(TODAY).flatMap(([currency, today]) => {
    const random = randomNumbers(currency.charCodeAt(0))
    return days.map((ms) => {
      const back = (yesterday - ms) / DAY_MS / 30.4
      const wobble = 1 + (random() - 0.5) * 0.02 * Math.min(1, back)
      return {
        currency,
        day: new Date(ms).toISOString().slice(0, 10),
        rate: Math.round(today * (1 - MONTHLY_LOSS) ** back * wobble * 10_000) / 10_000,
      }
    })
  })
}
