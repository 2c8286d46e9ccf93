// Approves a listing: it is published for a new period (decisions.md, "Listings").
import { invalid } from '#core/errors.ts'
import { id, moment, momentOf } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change } from '#db/change.ts'
import { auditedListing, lockCurrentListing, storedListing, updateListingRow } from './store.ts'
import { approvalValues, transition } from './transition.ts'
import type { MarketWriteCtx, StoredListing } from './types.ts'

export const approveListing = verb(
  {
    name: 'approveListing',
    needs: 'operator',
    input: Type.Object(
      {
        id: id('listing'),
        expires_at: Type.Optional(moment('End of the publication period; by default as many days from now as is set')),
      },
      { additionalProperties: false },
    ),
  },
  (ctx: MarketWriteCtx, { id, expires_at: end }) =>
    change(ctx, async (tx, note): Promise<StoredListing> => {
      const now = ctx.now()
      const expiresAt = end === undefined ? null : momentOf('expires_at', end)
      if (expiresAt && expiresAt <= now) throw invalid([{ field: 'expires_at', message: 'must be in the future' }])
      const { before, status } = await transition(tx, note, ctx, await lockCurrentListing(tx, ctx, id), 'approve')
      const after = await updateListingRow(tx, id, status, approvalValues(before, now, expiresAt, ctx.market.listingPeriodDays), now)
      note.audit({ action: 'listing.approve', subject: 'listing', id, before: auditedListing(before, now), after: auditedListing(after, now) })
      note.changed('listings', [id])
      return storedListing(after, now)
    }),
)
