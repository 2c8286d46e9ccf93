// Sends a listing back to its owner with a note; an edit submits it for approval again.
import { id, name } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { decideListing } from './approval/decide.ts'
import type { MarketWriteCtx } from './types.ts'

export const requestListingChange = verb(
  {
    name: 'requestListingChange',
    needs: 'market',
    input: Type.Object({ id: id('listing'), note: name('What to change, shown to the owner') }, { additionalProperties: false }),
  },
  (ctx: MarketWriteCtx, { id, note }) => decideListing(ctx, id, 'request_change', note.trim(), () => ({ rejection_reason: note.trim() })),
)
