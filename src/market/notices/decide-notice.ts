// Decides a notice of infringement: hides the listing by the table of statuses, or keeps it.
import { id, name } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { actorOf, change, type Note } from '#db/changes/change.ts'
import { decideListing } from '../approval/decide.ts'
import type { MarketWriteCtx } from '../marketplace-types.ts'
import { REJECTED, SOLD_OUT } from '../records/rules.ts'
import { fetchNotice, setDecision } from './notice-store.ts'
import type { Notice } from './notice-types.ts'

/** Buyers see no listing in these statuses, and its owner can publish it only by another approval. */
const OUT_OF_SIGHT: readonly (string | null)[] = [null, REJECTED, SOLD_OUT]

export const decideNotice = verb(
  {
    name: 'decideNotice',
    needs: 'market',
    input: Type.Object({
      id: id('notice'),
      decision: Type.Enum(['hide', 'keep'], { description: '`hide` rejects the listing; `keep` leaves it as it is' }),
      note: name('Reason; with `hide`, shown to the owner of the listing'),
    }),
  },
  async (ctx: MarketWriteCtx, { id, decision, note: text }): Promise<Notice> => {
    const now = ctx.now()
    const { listing, listing_status: status } = await fetchNotice(ctx.db.kysely, id, now)
    const reason = text.trim()
    const values = {
      state: decision === 'hide' ? ('hidden' as const) : ('kept' as const),
      note: reason,
      decided_at: now,
      decided_by: actorOf(ctx.viewer),
    }
    const audit = (note: Note) =>
      note.audit({ action: `notice.${decision}`, subject: 'notice', id, after: { state: values.state, listing_id: listing } })
    if (decision === 'keep' || OUT_OF_SIGHT.includes(status)) {
      return change(ctx, async (tx, note) => {
        await setDecision(tx, id, values)
        audit(note)
        return fetchNotice(tx, id, now)
      })
    }
    // Both decisions commit together; the entry about the listing names the same reason.
    await decideListing(ctx, listing!, 'reject', reason, async (_before, _now, tx) => {
      await setDecision(tx, id, values)
      return { rejection_reason: reason }
    })
    return fetchNotice(ctx.db.kysely, id, now)
  },
)
