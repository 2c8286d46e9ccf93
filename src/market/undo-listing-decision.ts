// Undoes a decision about a listing within its minute, as long as nothing else happened to the listing (docs/decisions.md, "Marketplace").
import { conflict } from '#core/errors.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { actorOf, change } from '#db/change.ts'
import { fetchDecision, keepPutBack, replacedBy, type StoredDecision, UNDO_MS } from './approval/decisions.ts'
import { endedIfOver } from './expire-listings.ts'
import { auditedListing, lockListing, updateListingRow } from './store.ts'
import type { MarketWriteCtx } from './types.ts'

export const undoListingDecision = verb(
  { name: 'undoListingDecision', needs: 'operator', input: Type.Object({ id: id('listing decision') }, { additionalProperties: false }) },
  (ctx: MarketWriteCtx, { id }): Promise<StoredDecision> =>
    change(ctx, async (tx, note) => {
      const now = ctx.now()
      const { listing_id: listingId } = await fetchDecision(tx, id, now)
      const listing = await endedIfOver(tx, note, ctx, await lockListing(tx, ctx, listingId))
      const decision = await tx.selectFrom('listing_decisions').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
      if (decision.undone_by !== null) throw conflict('decision_undone', { id, by: decision.undone_by })
      if (decision.decided_at!.getTime() + UNDO_MS <= now.getTime()) throw conflict('undo_late', { id, seconds: UNDO_MS / 1_000 })
      if (decision.after_version !== listing.version) throw conflict('undo_changed', { id })
      const { status, ...values } = replacedBy(decision.before!)
      const after = await updateListingRow(tx, listingId, status, values, now)
      await keepPutBack(tx, id, after, actorOf(ctx.viewer), now)
      note.audit({
        action: 'listing.undo_decision',
        subject: 'listing',
        id: listingId,
        before: auditedListing(listing, now),
        after: auditedListing(after, now),
      })
      note.changed('listings', [listingId])
      return fetchDecision(tx, id, now)
    }),
)
