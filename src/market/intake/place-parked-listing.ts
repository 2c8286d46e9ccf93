// Creates a listing from a parked row with the item its owner chose.
import { ServiceError } from '#core/errors.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { ownAccount } from '#core/verb.ts'
import { change } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import { QUEUED } from '../records/rules.ts'
import { addListings } from '../listings/add-listings.ts'
import { requireLiveItem } from '../references.ts'
import { listingOf } from './import-listings.ts'
import { lockIntake, takeParked } from './store.ts'
import type { IntakeCtx, PlacedListing } from './types.ts'

export const placeParkedListing = writeVerb(
  {
    name: 'placeParkedListing',
    needs: OPERATION_PLAN.placeParkedListing,
    input: Type.Object({ id: id('parked row'), item_id: Type.Integer({ description: 'Item to use for the row' }) }),
  },
  (ctx: IntakeCtx, { id: parkedId, item_id: itemId }): Promise<PlacedListing> => {
    const sellerId = ownAccount(ctx.viewer)
    return change(ctx, async (tx, note) => {
      const now = ctx.now()
      await lockIntake(tx, sellerId)
      const entry = await takeParked(tx, sellerId, parkedId)
      const row = ctx.catalogue.items.rowOf(itemId)
      const live = requireLiveItem(new Map(row < 0 ? [] : [[itemId, ctx.catalogue.items.id[row]!]]), itemId)
      const [added] = await addListings(tx, note, { sellerId, now }, [listingOf(ctx.catalogue, entry, live)])
      if (added instanceof ServiceError) throw added
      return { id: added!.id, title: added!.title, status: QUEUED }
    })
  },
)
