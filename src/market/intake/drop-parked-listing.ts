// Discards a parked row.
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { ownAccount } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import { takeParked } from './store.ts'

export const dropParkedListing = writeVerb(
  {
    name: 'dropParkedListing',
    needs: OPERATION_PLAN.dropParkedListing,
    input: Type.Object({ id: id('parked row') }),
  },
  (ctx: WriteCtx, { id: parkedId }): Promise<void> => {
    const accountId = ownAccount(ctx.viewer)
    return change(ctx, async (tx, note) => {
      const before = await takeParked(tx, accountId, parkedId)
      note.audit({ action: 'parked_listing.drop', subject: 'parked_listing', id: parkedId, before })
    })
  },
)
