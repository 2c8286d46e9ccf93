// Highlights an own published listing for one credit (interface.md, "POST /api/v1/plus/make-highlight").
import { spendCredit } from '#accounts/spend-credit.ts'
import { conflict } from '#core/errors.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { localTime } from '#core/time.ts'
import { verb } from '#core/verb.ts'
import { DryRun, forecasting } from '../visibility/forecast.ts'
import { act, daysAfter } from './transition.ts'
import { isOnVacation, withoutVacation, withVacation } from '../records/vacation.ts'
import { findVacation } from '../records/vacation-store.ts'
import type { ForecastCtx } from '../marketplace-types.ts'

export const makeHighlight = verb(
  {
    name: 'makeHighlight',
    needs: OPERATION_PLAN.makeHighlight,
    writes: true,
    input: Type.Object({ id: id('listing'), ...DryRun }),
  },
  (ctx: ForecastCtx, input) =>
    forecasting(ctx, input, (ctx, { id }) =>
      act(ctx, id, 'highlight', async ({ tx, before, now, update, audit }) => {
        const remaining = await spendCredit(tx, before.seller_id, `highlight of listing ${id}`, now)
        if (remaining === null) throw conflict('no_credits')
        // Taking the credit has locked the seller's row, which a change of the vacation locks, too.
        const vacation = await findVacation(tx, before.seller_id, now)
        if (isOnVacation(vacation, now)) throw conflict('on_vacation', { to: localTime(vacation.to, ctx.market.timeZone) })
        const running = before.highlighted_until && before.highlighted_until > now ? withoutVacation(before.highlighted_until, vacation, now) : now
        const until = withVacation(daysAfter(running, ctx.market.highlightDays), vacation, now)
        await update({ highlighted_until: until })
        audit(
          { highlighted_until: before.highlighted_until, highlight_credits: remaining + 1 },
          { highlighted_until: until, highlight_credits: remaining },
        )
        return { id, remaining_highlight_credits: remaining }
      }),
    ),
)
