// Highlights an own published listing for one credit (interface.md, "POST /api/v1/plus/make-highlight").
import { spendCredit } from '#accounts/spend-credit.ts'
import { conflict } from '#core/errors.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import { change } from '#db/change.ts'
import { lockOwnListing, updateListingRow } from './store.ts'
import { daysAfter, transition } from './transition.ts'
import type { MarketWriteCtx } from './types.ts'

export const makeHighlight = verb(
  {
    name: 'makeHighlight',
    needs: OPERATION_PLAN.makeHighlight,
    fails: 'PLUS_LISTING_ERROR',
    input: Type.Object({ id: id('listing') }, { additionalProperties: false }),
  },
  (ctx: MarketWriteCtx, { id }) =>
    change(ctx, async (tx, note) => {
      const now = ctx.now()
      const { before, status } = await transition(tx, note, ctx, await lockOwnListing(tx, ctx, id), 'highlight')
      const remaining = await spendCredit(tx, before.seller_id, `highlight of listing ${id}`, now)
      if (remaining === null) throw conflict('The account has no highlight credits left')
      const running = before.highlighted_until && before.highlighted_until > now ? before.highlighted_until : now
      const until = daysAfter(running, ctx.market.highlightDays)
      await updateListingRow(tx, id, status, { highlighted_until: until }, now)
      note.audit({
        action: 'listing.highlight',
        subject: 'listing',
        id,
        before: { highlighted_until: before.highlighted_until, highlight_credits: remaining + 1 },
        after: { highlighted_until: until, highlight_credits: remaining },
      })
      note.changed('listings', [id])
      return { id, remaining_highlight_credits: remaining }
    }),
)
