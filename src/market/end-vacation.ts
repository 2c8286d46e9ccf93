// Ends the caller's vacation now, or cancels a future one; does nothing if there is none.
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { writeVerb } from '#db/write-verb.ts'
import { changeVacation } from './set-vacation.ts'
import type { MarketWriteCtx } from './types.ts'

export const endVacation = writeVerb(
  { name: 'endVacation', needs: OPERATION_PLAN.endVacation, input: Type.Object({}, { additionalProperties: false }) },
  (ctx: MarketWriteCtx): Promise<{ message: string }> =>
    changeVacation(
      ctx,
      'vacation.end',
      () => null,
      () => ({ message: 'Vacation ended' }),
    ),
)
