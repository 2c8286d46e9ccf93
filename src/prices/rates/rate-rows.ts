// Exchange rate rows in requests and files: validation and formatting.
import { sql } from 'kysely'
import { DAY_MS } from '#core/duration.ts'
import { day } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { type Problem, problem, reason } from '#core/problems.ts'
import type { Note } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import { markReviewsForRanking } from '../records/review-changes.ts'

const EARLIEST = '1996-01-01'
/** Maximum days between today and the day of a rate: banks announce the rates of the next working day, and holidays may come in between. */
const MAX_DAYS_AHEAD = 14

const amount = (description: string) => Type.Number({ minimum: 0.000001, maximum: 1_000_000_000, description, examples: [41.87] })

export const RateRow = Type.Object(
  {
    currency: Type.String({ pattern: '^[A-Z]{3}$', allowed: reason('currency'), examples: ['USD'] }),
    day: day('First day the rate applies'),
    rate: Type.Optional(amount('Turkish lira for one unit')),
    TRY: Type.Optional(amount('Deprecated alias of `rate`')),
  },
  { additionalProperties: false },
)
export type GivenRate = Static<typeof RateRow>

export interface Rate {
  currency: string
  day: string
  /** Turkish lira for one unit */
  rate: number
}

/** The origin of a rate: its position in a request, or its line in a file. */
export type RatePlace = { row: number } | { line: number }

/**
 * Validates rates one after another and returns a rate or an error for each. There is one rate per currency and day; repeating the same one is not an
 * error.
 */
export function rateJudge(now: Date): (row: GivenRate, place: RatePlace) => Rate | Problem {
  const latest = new Date(now.getTime() + MAX_DAYS_AHEAD * DAY_MS).toISOString().slice(0, 10)
  const seen = new Map<string, { rate: number; place: RatePlace }>()
  return ({ currency, day, rate: stated, TRY }, place) => {
    const rate = stated ?? TRY
    if (rate === undefined || (stated !== undefined && TRY !== undefined)) return problem('rate', 'exactly_one', { field: 'TRY' })
    if (currency === 'TRY') return problem('currency', 'rate_of_lira')
    if (Number.isNaN(Date.parse(day)) || day < EARLIEST || day > latest) {
      return problem('day', 'date', { format: 'YYYY-MM-DD', from: EARLIEST, to: latest })
    }
    const key = `${currency} ${day}`
    const earlier = seen.get(key)
    if (earlier && earlier.rate !== rate) return problem('rate', 'rate_again', earlier.place)
    seen.set(key, { rate, place })
    return { currency, day, rate }
  }
}

/** Writes rates of different currencies or days, replacing existing ones. */
export async function writeRates(tx: Tx, note: Note, rates: readonly Rate[]): Promise<void> {
  await sql`
    insert into rates (currency, day, try_rate)
    select * from unnest(${rates.map((row) => row.currency)}::text[], ${rates.map((row) => row.day)}::date[], ${rates.map((row) => String(row.rate))}::numeric[])
    on conflict (currency, day) do update set try_rate = excluded.try_rate`.execute(tx)
  await markReviewsForRanking(tx)
  note.changed('rates', [...new Set(rates.map(({ day }) => Date.parse(day) / DAY_MS))])
}
