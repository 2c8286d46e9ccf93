// Decides about a listing: approves it, rejects it, or requests a change.
import { invalid } from '#core/errors.ts'
import { id, moment, momentOf, name } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { decideListing } from './decide.ts'
import { approvalValues, daysAfter } from '../listings/transition.ts'
import type { MarketWriteCtx } from '../marketplace-types.ts'
import { endAfterVacation } from '../records/vacation-store.ts'

/** Approves a listing: publishes it for a new period. */
export const approveListing = verb(
  {
    name: 'approveListing',
    needs: 'market',
    input: Type.Object({
      id: id('listing'),
      expires_at: Type.Optional(
        moment('End of the publication period; default: the configured number of days from now. Extended by a vacation of the seller'),
      ),
    }),
  },
  (ctx: MarketWriteCtx, { id, expires_at: end }) =>
    decideListing(ctx, id, 'approve', null, async (before, now, tx) => {
      const expiresAt = end === undefined ? daysAfter(now, ctx.market.listingPeriodDays) : momentOf('expires_at', end)
      if (expiresAt <= now) throw invalid('expires_at', 'in_future')
      return approvalValues(before, now, await endAfterVacation(tx, before.seller_id, expiresAt, now))
    }),
)

/** Rejects a listing or takes a published one down, with a reason shown to its owner. */
export const rejectListing = verb(
  {
    name: 'rejectListing',
    needs: 'market',
    input: Type.Object({ id: id('listing'), reason: name('Reason, shown to the owner') }),
  },
  (ctx: MarketWriteCtx, { id, reason }) => decideListing(ctx, id, 'reject', reason.trim(), () => ({ rejection_reason: reason.trim() })),
)

/** Sends a listing back to its owner with a note; an edit submits it for approval again. */
export const requestListingChange = verb(
  {
    name: 'requestListingChange',
    needs: 'market',
    input: Type.Object({ id: id('listing'), note: name('What to change, shown to the owner') }),
  },
  (ctx: MarketWriteCtx, { id, note }) => decideListing(ctx, id, 'request_change', note.trim(), () => ({ rejection_reason: note.trim() })),
)
