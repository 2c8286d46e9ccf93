// Moderation queue: pending listings, longest waiting first, with the data for a decision.
import { type Static, Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import { ListingReviewSchema, reviewListings } from './approval/review.ts'
import { ListingFilters, type ListingsCtx } from './list-listings.ts'
import { QUEUED } from './rules.ts'
import { pageOfListings, storedListing } from './store.ts'
import { type MarketWriteCtx, StoredListingSchema } from './types.ts'

export const WaitingListingSchema = Type.Object({ ...StoredListingSchema.properties, review: ListingReviewSchema }, { title: 'WaitingListing' })
export type WaitingListing = Static<typeof WaitingListingSchema>

export type ReviewCtx = ListingsCtx & Pick<MarketWriteCtx, 'market'>

export const listWaiting = listVerb(
  { name: 'listWaiting', needs: 'operator', filters: ListingFilters },
  async ({ db, market, now: clock }: ReviewCtx, filter, range) => {
    const now = clock()
    const { rows, total } = await pageOfListings(db.kysely, { ...filter, status: QUEUED, now }, range, 'waiting', (row) => row)
    const reviews = await reviewListings(db.kysely, rows, { now, market })
    return { rows: rows.map((row) => ({ ...storedListing(row, now), review: reviews.get(row.id)! })), total }
  },
)
