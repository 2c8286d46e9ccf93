// Deletes an own listing for good, in whatever status; its sales stay (interface.md, "DELETE /plus/listings/{id}").
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import { change } from '#db/change.ts'
import { endedIfOver } from './expire-listings.ts'
import { auditedListing, deleteListingRow, lockOwnListing } from './store.ts'
import type { MarketWriteCtx } from './types.ts'

export const deleteListing = verb(
  {
    name: 'deleteListing',
    needs: OPERATION_PLAN.deleteListing,
    fails: 'PLUS_LISTING_ERROR',
    input: Type.Object({ id: id('listing') }, { additionalProperties: false }),
  },
  (ctx: MarketWriteCtx, { id }) =>
    change(ctx, async (tx, note) => {
      const before = await endedIfOver(tx, note, ctx, await lockOwnListing(tx, ctx, id))
      await deleteListingRow(tx, id)
      note.audit({ action: 'listing.delete', subject: 'listing', id, before: auditedListing(before, ctx.now()) })
      note.changed('listings', [id])
      return { id }
    }),
)
