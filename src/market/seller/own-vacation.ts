// The caller's vacation: read, set and end it.
import { DAY_MS, MINUTE_MS } from '#core/duration.ts'
import { invalid } from '#core/errors.ts'
import { moment, momentOf } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import type { MessageText } from '#core/problem-texts/messages.ts'
import { localTime } from '#core/time.ts'
import { ownAccount, verb } from '#core/verb.ts'
import { change, type Note } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import type { MarketCtx, MarketWriteCtx } from '../marketplace-types.ts'
import { deleteVacation, findVacation, lockRunning, lockVacation, saveVacation, shiftPeriodEnds } from '../records/vacation-store.ts'
import { isOnVacation, type Vacation, withoutVacation, withVacation } from '../records/vacation.ts'

export const VacationSchema = Type.Object(
  {
    from: Type.String({ format: 'date-time', description: 'Start, when your listings are hidden; local time with offset' }),
    to: Type.String({ format: 'date-time', description: 'End, when the listings are shown again; local time with offset' }),
  },
  { title: 'Vacation' },
)
export type VacationAnswer = Static<typeof VacationSchema>

function vacationResponse({ from, to }: Vacation, zone: string): VacationAnswer {
  return { from: localTime(from, zone), to: localTime(to, zone) }
}

/** Reads the caller's current or future vacation; null if there is none. */
export const getVacation = verb(
  { name: 'getVacation', needs: OPERATION_PLAN.getVacation, input: Type.Object({}) },
  async ({ db, viewer, now, market }: Pick<MarketCtx, 'db' | 'viewer' | 'now' | 'market'>): Promise<VacationAnswer | null> => {
    const vacation = await findVacation(db.kysely, ownAccount(viewer), now())
    return vacation && vacationResponse(vacation, market.timeZone)
  },
)

export const MAX_VACATION_DAYS = 90
const MAX_VACATION_LEAD_DAYS = 365
/** Clocks of two systems differ, and requests take time: a start up to this long in the past means now. */
const START_TOLERANCE_MS = 5 * MINUTE_MS

/** Sets or changes the caller's vacation: listings are hidden, and periods and highlights are paused. */
export const setVacation = writeVerb(
  {
    name: 'setVacation',
    needs: OPERATION_PLAN.setVacation,
    input: Type.Object({
      from: Type.Optional(moment(`When it starts, at most ${MAX_VACATION_LEAD_DAYS} days ahead; default: now`)),
      to: moment(`When it ends, at most ${MAX_VACATION_DAYS} days after its start`),
    }),
  },
  (ctx: MarketWriteCtx, input): Promise<VacationAnswer> => {
    const next = (before: Vacation | null, now: Date) => {
      const vacation = { from: startOf(input.from, before, now), to: wholeSecond(momentOf('to', input.to)) }
      if (vacation.to <= now) throw invalid('to', 'in_future')
      if (vacation.to <= vacation.from) throw invalid('from', 'before', { field: 'to' })
      if (daysBetween(vacation.from, vacation.to) > MAX_VACATION_DAYS) {
        throw invalid('to', 'days_after', { days: MAX_VACATION_DAYS, field: 'from' })
      }
      return vacation
    }
    return changeVacation(ctx, 'vacation.set', next, (vacation) => vacationResponse(vacation, ctx.market.timeZone))
  },
)

/** @throws VALIDATION_ERROR for a start in the past, unless a vacation has been running since then, and for a start too far ahead */
function startOf(text: string | undefined, before: Vacation | null, now: Date): Date {
  const running = isOnVacation(before, now) ? before : null
  const from = text === undefined ? now : wholeSecond(momentOf('from', text))
  if (from > now) {
    if (daysBetween(now, from) > MAX_VACATION_LEAD_DAYS) throw invalid('from', 'days_ahead', { days: MAX_VACATION_LEAD_DAYS })
    return from
  }
  const earliest = running?.from.getTime() ?? now.getTime() - START_TOLERANCE_MS
  if (from.getTime() < earliest) throw invalid('from', 'not_in_past')
  return running?.from ?? wholeSecond(now)
}

/** Times as in responses. */
function wholeSecond(moment: Date): Date {
  return new Date(Math.floor(moment.getTime() / 1_000) * 1_000)
}

function daysBetween(from: Date, to: Date): number {
  return (to.getTime() - from.getTime()) / DAY_MS
}

/**
 * Sets or removes the caller's vacation, and moves the ends of paused periods and highlights accordingly.
 * @param next computes the new vacation from the current one; null for none
 * @param answerOf builds the response, which is stored for a repeated request
 */
function changeVacation<Next extends Vacation | null, Answer>(
  ctx: MarketWriteCtx,
  action: 'vacation.set' | 'vacation.end',
  next: (before: Vacation | null, now: Date) => Next,
  answerOf: (after: Next) => Answer,
): Promise<Answer> {
  const accountId = ownAccount(ctx.viewer)
  return change(ctx, async (tx, note) => {
    const now = ctx.now()
    await lockRunning(tx, accountId, now)
    const before = await lockVacation(tx, accountId, 'set', now)
    const after = next(before, now)
    if (before?.from.getTime() === after?.from.getTime() && before?.to.getTime() === after?.to.getTime()) return answerOf(after)
    await (after ? saveVacation(tx, accountId, after) : deleteVacation(tx, accountId))
    await followVacation(tx, note, accountId, before, after, now)
    note.audit({ action, subject: 'account', id: accountId, before, after })
    return answerOf(after)
  })
}

async function followVacation(tx: Tx, note: Note, accountId: number, before: Vacation | null, after: Vacation | null, now: Date): Promise<void> {
  const moved = await shiftPeriodEnds(tx, accountId, (end) => withVacation(withoutVacation(end, before, now), after, now), now)
  // Nodes apply the vacation with its seller, then the listings.
  note.changed('accounts', [accountId])
  if (moved.length > 0) note.changed('listings', moved)
}

/** Ends the caller's vacation now, or cancels a future one; does nothing if there is none. */
export const endVacation = writeVerb(
  { name: 'endVacation', needs: OPERATION_PLAN.endVacation, input: Type.Object({}) },
  (ctx: MarketWriteCtx): Promise<{ message: MessageText }> =>
    changeVacation(
      ctx,
      'vacation.end',
      () => null,
      () => ({ message: 'Vacation ended' }),
    ),
)
