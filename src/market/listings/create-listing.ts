// Creates a listing, pending approval.
import { ServiceError } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import { addListings } from './add-listings.ts'
import { ListingBody } from './listing-body.ts'
import { checkSeller } from '../references.ts'
import { storedListing } from '../listing-content.ts'
import type { StoredListing } from '../marketplace-types.ts'

export const createListing = verb(
  {
    name: 'createListing',
    needs: 'market',
    input: Type.Object({ seller_id: Type.Integer({ description: "Id of the seller's account" }), ...ListingBody }),
  },
  (ctx: WriteCtx, { seller_id: sellerId, ...fields }) =>
    change(ctx, async (tx, note): Promise<StoredListing> => {
      await checkSeller(tx, sellerId)
      const now = ctx.now()
      const [added] = await addListings(tx, note, { sellerId, now }, [{ fields, sku: null }])
      if (added instanceof ServiceError) throw added
      return storedListing(added!, now)
    }),
)
