// Operator API: listings and their approval.
import { Type } from '#core/input.ts'
import type { Page } from '#core/paging.ts'
import type { Answer } from '#http/envelope.ts'
import type { OwnErrorCode, Route } from '#http/route.ts'
import { approveListing } from '#market/approve-listing.ts'
import { correctListing } from '#market/correct-listing.ts'
import { createListing } from '#market/create-listing.ts'
import { getStoredListing } from '#market/get-stored-listing.ts'
import { listListings } from '#market/list-listings.ts'
import { listWaiting } from '#market/list-waiting.ts'
import { rejectListing } from '#market/reject-listing.ts'
import { type MarketWriteCtx, type StoredListing, StoredListingSchema } from '#market/types.ts'

const tag = 'Listings'
const moves: OwnErrorCode[] = ['INVALID_JSON', 'CONFLICT', 'NOT_FOUND', 'PRECONDITION_FAILED']
const CONDITION = 'Takes `If-Match` with the `etag` of the listing: 412 if it has changed since you read it.'
const page = ({ rows, pagination }: Page<StoredListing>) => ({ data: rows, pagination })

/** The listing, with its entity tag in the header too. */
const answerWith =
  (message?: string) =>
  (listing: StoredListing): Answer => ({ data: listing, etag: listing.etag, ...(message !== undefined && { message }) })

export const listingRoutes: Route<MarketWriteCtx>[] = [
  {
    method: 'POST',
    path: '/listings',
    verb: createListing,
    summary: 'Take a listing in',
    description: 'It is `pending` until it is approved.',
    tag,
    status: 201,
    answer: answerWith('The listing waits for approval'),
    data: StoredListingSchema,
    errors: ['INVALID_JSON'],
  },
  {
    method: 'GET',
    path: '/listings',
    verb: listListings,
    summary: 'All listings, newest first',
    tag,
    answer: page,
    data: Type.Array(StoredListingSchema),
    paged: true,
  },
  {
    method: 'GET',
    path: '/listings/waiting',
    verb: listWaiting,
    summary: 'Listings that wait for approval, longest waiting first',
    description: '`changed_since_approval` tells what differs from what was last approved.',
    tag,
    answer: page,
    data: Type.Array(StoredListingSchema),
    paged: true,
  },
  {
    method: 'GET',
    path: '/listings/:id',
    verb: getStoredListing,
    summary: 'One listing',
    tag,
    answer: answerWith(),
    data: StoredListingSchema,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'PATCH',
    path: '/listings/:id',
    verb: correctListing,
    summary: 'Change a listing',
    description: `The status stays; what then differs from what was approved has to be approved when its owner publishes it after a pause. ${CONDITION}`,
    tag,
    answer: answerWith('The listing is changed'),
    data: StoredListingSchema,
    errors: ['INVALID_JSON', 'CONFLICT', 'NOT_FOUND', 'PRECONDITION_FAILED'],
  },
  {
    method: 'POST',
    path: '/listings/:id/approve',
    verb: approveListing,
    summary: 'Approve a listing',
    description: `It is published for a new period. ${CONDITION}`,
    tag,
    answer: answerWith('The listing is published'),
    data: StoredListingSchema,
    errors: moves,
  },
  {
    method: 'POST',
    path: '/listings/:id/reject',
    verb: rejectListing,
    summary: 'Reject a listing or take it down',
    description: `Its owner reads the reason; an edit sends it to approval again. ${CONDITION}`,
    tag,
    answer: answerWith('The listing is rejected'),
    data: StoredListingSchema,
    errors: moves,
  },
]
