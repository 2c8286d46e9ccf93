// Undoes the last decision about a listing within a minute, if the listing has not changed since.
import { conflict } from '#core/errors.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { actorOf, change } from '#db/changes/change.ts'
import { recordUndo, replacedBy, UNDO_MS } from './decisions.ts'
import { expireIfDue } from '../listings/expire-listings.ts'
import { takenCertificates } from '../certificates/taken.ts'
import { PUBLISHED, QUEUED } from '../records/rules.ts'
import { lockListing, updateListingRow } from '../listing-store.ts'
import { auditedListing, storedListing } from '../listing-content.ts'
import type { MarketWriteCtx, StoredListing } from '../marketplace-types.ts'

export const undoListingDecision = verb(
  { name: 'undoListingDecision', needs: 'market', input: Type.Object({ id: id('listing') }) },
  (ctx: MarketWriteCtx, { id }): Promise<StoredListing> =>
    change(ctx, async (tx, note) => {
      const now = ctx.now()
      const before = await expireIfDue(tx, note, ctx, await lockListing(tx, ctx, id))
      const decision = await tx
        .selectFrom('listing_decisions')
        .select(['id', 'decided_at', 'before', 'after_version'])
        .where('listing_id', '=', id)
        .where('decision', 'is not', null)
        .where('undone_at', 'is', null)
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst()
      if (!decision) throw conflict('undo_none', { id })
      if (decision.after_version !== before.version) throw conflict('undo_changed', { id })
      if (decision.decided_at!.getTime() + UNDO_MS <= now.getTime()) throw conflict('undo_late', { id, seconds: UNDO_MS / 1_000 })
      const { status, waiting_since, rejection_reason, ...values } = replacedBy(decision.before!)
      // Meanwhile another listing may offer the same copy: then the listing goes to approval, where both are shown.
      const isTaken = status === PUBLISHED && (await takenCertificates(tx, [before])).size > 0
      const after = isTaken
        ? await updateListingRow(tx, id, QUEUED, values, now)
        : await updateListingRow(tx, id, status, { ...values, waiting_since, rejection_reason }, now)
      await recordUndo(tx, decision.id, after, actorOf(ctx.viewer), now)
      note.audit({
        action: 'listing.undo_decision',
        subject: 'listing',
        id,
        before: auditedListing(before, now),
        after: auditedListing(after, now),
      })
      note.changed('listings', [id])
      return storedListing(after, now)
    }),
)
