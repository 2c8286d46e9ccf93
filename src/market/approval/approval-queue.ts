// Moderation queue: pending listings with the data for a decision, and past decisions.
import { sql } from 'kysely'
import { boundedId, id } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import { actorOf } from '#db/changes/change.ts'
import { countIn, where, withTotal } from '#db/page.ts'
import { decisionsOf, UNCHANGED, UNDO_MS } from './decisions.ts'
import { type ListingReview, ListingReviewSchema, reviewListings } from './review.ts'
import { QUEUED } from '../records/rules.ts'
import { fetchListing } from '../listing-store.ts'
import { pageOfListings } from '../listing-pages.ts'
import { storedListing } from '../listing-content.ts'
import { ListingFilters, type ListingsCtx } from '../listings/stored-listings.ts'
import { type MarketWriteCtx, StoredListingSchema } from '../marketplace-types.ts'

export const WaitingListingSchema = Type.Object({ ...StoredListingSchema.properties, review: ListingReviewSchema }, { title: 'WaitingListing' })
export type WaitingListing = Static<typeof WaitingListingSchema>

export type ReviewCtx = ListingsCtx & Pick<MarketWriteCtx, 'market'>

/** Moderation queue: pending listings, longest waiting first, with the data for a decision. */
export const listWaiting = listVerb(
  { name: 'listWaiting', needs: 'operator', filters: ListingFilters },
  async ({ db, market, now: clock }: ReviewCtx, filter, range) => {
    const now = clock()
    const { rows, total } = await pageOfListings(db.kysely, { ...filter, status: QUEUED, now }, range, 'waiting', (row) => row)
    const reviews = await reviewListings(db.kysely, rows, { now, market })
    return { rows: rows.map((row) => ({ ...storedListing(row, now), review: reviews.get(row.id)! })), total }
  },
)

/** Reads the data for a decision about one listing. */
export const reviewListing = verb(
  { name: 'reviewListing', needs: 'operator', input: Type.Object({ id: id('listing') }) },
  async (ctx: ReviewCtx, { id }): Promise<ListingReview> => {
    const listing = await fetchListing(ctx.db.kysely, id)
    const reviews = await reviewListings(ctx.db.kysely, [listing], { now: ctx.now(), market: ctx.market })
    return reviews.get(listing.id)!
  },
)

/** Decisions about listings, newest first. */
export const listListingDecisions = listVerb(
  {
    name: 'listListingDecisions',
    needs: 'operator',
    filters: {
      listing_id: boundedId('Only this listing'),
      seller_id: boundedId('Only listings of this account'),
      mine: Type.Optional(Type.Boolean({ default: false, description: "`1`: only the caller's own" })),
      undoable: Type.Optional(Type.Boolean({ default: false, description: '`1`: only those that can be undone now' })),
    },
  },
  ({ db, viewer, now: clock }: ListingsCtx, { listing_id: listingId, seller_id: sellerId, mine = false, undoable = false }, { limit, offset }) => {
    const now = clock()
    const from = sql`from listing_decisions d left join listings l on l.id = d.listing_id ${where(
      sql`d.decision is not null`,
      listingId !== undefined && sql`d.listing_id = ${listingId}`,
      sellerId !== undefined && sql`d.seller_id = ${sellerId}`,
      mine && sql`d.decided_by = ${actorOf(viewer)}`,
      undoable && sql`d.decided_at > ${new Date(now.getTime() - UNDO_MS)} and ${UNCHANGED}`,
    )}`
    const rows = decisionsOf(db.kysely, sql`${from} order by d.decided_at desc, d.id desc limit ${limit} offset ${offset}`, now)
    return withTotal(rows, countIn(db.kysely, from))
  },
)
