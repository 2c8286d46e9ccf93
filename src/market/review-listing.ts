// Reads the data for a decision about one listing.
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { type ListingReview, reviewListings } from './approval/review.ts'
import type { ReviewCtx } from './list-waiting.ts'
import { fetchListing } from './store.ts'

export const reviewListing = verb(
  { name: 'reviewListing', needs: 'operator', input: Type.Object({ id: id('listing') }, { additionalProperties: false }) },
  async (ctx: ReviewCtx, { id }): Promise<ListingReview> => {
    const listing = await fetchListing(ctx.db.kysely, id)
    const reviews = await reviewListings(ctx.db.kysely, [listing], { now: ctx.now(), market: ctx.market })
    return reviews.get(listing.id)!
  },
)
