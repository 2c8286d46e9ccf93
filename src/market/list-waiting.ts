// Moderation queue: pending listings, longest waiting first, with the data for a decision.
import { type Static, Type } from '#core/input.ts'
import { type Page, readPage } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import { ListingReviewSchema, reviewListings } from './approval/review.ts'
import { ListingFilters, type ListingsCtx } from './list-listings.ts'
import { QUEUED } from './rules.ts'
import { pageOfListings, storedListing } from './store.ts'
import { type MarketWriteCtx, StoredListingSchema } from './types.ts'

export const WaitingListingSchema = Type.Object({ ...StoredListingSchema.properties, review: ListingReviewSchema }, { title: 'WaitingListing' })
export type WaitingListing = Static<typeof WaitingListingSchema>

export type ReviewCtx = ListingsCtx & Pick<MarketWriteCtx, 'market'>

export const listWaiting = verb(
  { name: 'listWaiting', needs: 'operator', input: Type.Object(ListingFilters, { additionalProperties: false }) },
  async (ctx: ReviewCtx, input): Promise<Page<WaitingListing>> => {
    const now = ctx.now()
    const { rows, pagination } = await readPage(input, (filter, limit, offset) =>
      pageOfListings(ctx.db.kysely, { ...filter, status: QUEUED, now }, limit, offset, 'waiting'),
    )
    const reviews = await reviewListings(ctx.db.kysely, rows, { now, market: ctx.market })
    return { rows: rows.map((row) => ({ ...storedListing(row, now), review: reviews.get(row.id)! })), pagination }
  },
)
