// Deletes an own listing for good, in whatever status; its sales stay (interface.md, "DELETE /plus/listings/{id}").
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import { change } from '#db/change.ts'
import { auditedListing, deleteListingRow, lockOwnListing, updateListingRow } from './store.ts'
import { transition } from './transition.ts'
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
      const now = ctx.now()
      const { before, status } = await transition(tx, note, ctx, await lockOwnListing(tx, ctx, id), 'delete')
      if (status === 'deleted') await deleteListingRow(tx, id)
      else await updateListingRow(tx, id, status, {}, now)
      note.audit({ action: 'listing.delete', subject: 'listing', id, before: auditedListing(before, now) })
      note.changed('listings', [id])
      return { id }
    }),
)
