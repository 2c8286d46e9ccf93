// Pauses or publishes an own listing (interface.md, "POST /api/v1/plus/listings/{id}/status").
import { conflict } from '#core/errors.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import type { MessageText } from '#core/problem-texts/messages.ts'
import { reason } from '#core/problems.ts'
import { verb } from '#core/verb.ts'
import type { ListingStatus } from '#db/schema.ts'
import { DryRun, forecasting } from '../visibility/forecast.ts'
import { listingTag } from '../listing-store.ts'
import { act } from './transition.ts'
import type { ListingResult, ForecastCtx } from '../marketplace-types.ts'

const MESSAGES: Record<ListingStatus, MessageText> = {
  active: 'Listing published',
  paused: 'Listing paused',
  pending: 'Listing pending approval',
  rejected: 'Listing rejected',
  expired: 'Listing expired',
  sold: 'Listing sold',
}

export const setListingStatus = verb(
  {
    name: 'setListingStatus',
    needs: OPERATION_PLAN.setListingStatus,
    writes: true,
    input: Type.Object({
      id: id('listing'),
      action: Type.String({
        maxLength: 100,
        allowed: reason('one_of', { values: ['pause', 'publish'] }),
        documentedValues: ['pause', 'publish'],
        examples: ['pause'],
      }),
      ...DryRun,
    }),
  },
  (ctx: ForecastCtx, input): Promise<ListingResult> =>
    forecasting(ctx, input, async (ctx, { id, action }) => {
      if (action !== 'pause' && action !== 'publish') throw conflict('invalid_action')
      return act(ctx, id, action, async ({ before, status, update, audit }) => {
        const after = await update()
        audit({ status: before.status }, { status })
        return { message: MESSAGES[status], id, price: Number(after.price), status, etag: listingTag(after) }
      })
    }),
)
