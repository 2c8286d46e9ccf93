// Reads the caller's current or future vacation; null if there is none.
import { type Static, Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { localTime } from '#core/time.ts'
import { ownAccount, verb } from '#core/verb.ts'
import type { Vacation } from './vacation.ts'
import { findVacation } from './vacation-store.ts'
import type { MarketCtx } from './types.ts'

export const VacationSchema = Type.Object(
  {
    from: Type.String({ format: 'date-time', description: 'Start, when your listings are hidden; local time with offset' }),
    to: Type.String({ format: 'date-time', description: 'End, when the listings are shown again; local time with offset' }),
  },
  { title: 'Vacation' },
)
export type VacationAnswer = Static<typeof VacationSchema>

export function vacationResponse({ from, to }: Vacation, zone: string): VacationAnswer {
  return { from: localTime(from, zone), to: localTime(to, zone) }
}

export const getVacation = verb(
  { name: 'getVacation', needs: OPERATION_PLAN.getVacation, input: Type.Object({}, { additionalProperties: false }) },
  async ({ db, viewer, now, market }: Pick<MarketCtx, 'db' | 'viewer' | 'now' | 'market'>): Promise<VacationAnswer | null> => {
    const vacation = await findVacation(db.kysely, ownAccount(viewer), now())
    return vacation && vacationResponse(vacation, market.timeZone)
  },
)
