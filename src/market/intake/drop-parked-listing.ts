// Discards a parked row.
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { ownAccount, verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/change.ts'
import { takeParked } from './store.ts'

export const dropParkedListing = verb(
  {
    name: 'dropParkedListing',
    needs: OPERATION_PLAN.dropParkedListing,
    writes: true,
    input: Type.Object({ id: id('parked row') }, { additionalProperties: false }),
  },
  (ctx: WriteCtx, { id: parkedId }): Promise<void> => {
    const accountId = ownAccount(ctx.viewer)
    return change(ctx, async (tx, note) => {
      const before = await takeParked(tx, accountId, parkedId)
      note.audit({ action: 'parked_listing.drop', subject: 'parked_listing', id: parkedId, before })
    })
  },
)
