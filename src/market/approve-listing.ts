// Approves a listing: publishes it for a new period.
import { invalid } from '#core/errors.ts'
import { id, moment, momentOf } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { decideListing } from './approval/decide.ts'
import { approvalValues, daysAfter } from './transition.ts'
import { endAfterVacation } from './vacation-store.ts'
import type { MarketWriteCtx } from './types.ts'

export const approveListing = verb(
  {
    name: 'approveListing',
    needs: 'market',
    input: Type.Object(
      {
        id: id('listing'),
        expires_at: Type.Optional(
          moment('End of the publication period; default: the configured number of days from now. Extended by a vacation of the seller'),
        ),
      },
      { additionalProperties: false },
    ),
  },
  (ctx: MarketWriteCtx, { id, expires_at: end }) =>
    decideListing(ctx, id, 'approve', null, async (before, now, tx) => {
      const expiresAt = end === undefined ? daysAfter(now, ctx.market.listingPeriodDays) : momentOf('expires_at', end)
      if (expiresAt <= now) throw invalid('expires_at', 'in_future')
      return approvalValues(before, now, await endAfterVacation(tx, before.seller_id, expiresAt, now))
    }),
)
