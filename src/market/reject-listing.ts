// Rejects a listing, or takes a published one down, with the reason that its owner reads.
import { id, name } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change } from '#db/change.ts'
import { auditedListing, lockCurrentListing, storedListing, updateListingRow } from './store.ts'
import { transition } from './transition.ts'
import type { MarketWriteCtx, StoredListing } from './types.ts'

export const rejectListing = verb(
  {
    name: 'rejectListing',
    needs: 'operator',
    input: Type.Object({ id: id('listing'), reason: name('Why; its owner reads it') }, { additionalProperties: false }),
  },
  (ctx: MarketWriteCtx, { id, reason }) =>
    change(ctx, async (tx, note): Promise<StoredListing> => {
      const now = ctx.now()
      const { before, status } = await transition(tx, note, ctx, await lockCurrentListing(tx, ctx, id), 'reject')
      const after = await updateListingRow(tx, id, status, { rejection_reason: reason.trim() }, now)
      note.audit({ action: 'listing.reject', subject: 'listing', id, before: auditedListing(before, now), after: auditedListing(after, now) })
      note.changed('listings', [id])
      return storedListing(after, now)
    }),
)
