// Rejects a listing or takes a published one down, with a reason shown to its owner.
import { id, name } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { decideListing } from './approval/decide.ts'
import type { MarketWriteCtx } from './types.ts'

export const rejectListing = verb(
  {
    name: 'rejectListing',
    needs: 'market',
    input: Type.Object({ id: id('listing'), reason: name('Reason, shown to the owner') }, { additionalProperties: false }),
  },
  (ctx: MarketWriteCtx, { id, reason }) => decideListing(ctx, id, 'reject', reason.trim(), () => ({ rejection_reason: reason.trim() })),
)
