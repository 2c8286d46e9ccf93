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
import { type StoredDecision, StoredDecisionSchema } from '#market/approval/decisions.ts'
import { type ListingReview, ListingReviewSchema } from '#market/approval/review.ts'
import { listListingDecisions } from '#market/list-listing-decisions.ts'
import { listWaiting, type WaitingListing, WaitingListingSchema } from '#market/list-waiting.ts'
import { rejectListing } from '#market/reject-listing.ts'
import { requestListingChange } from '#market/request-listing-change.ts'
import { reviewListing } from '#market/review-listing.ts'
import { type MarketWriteCtx, type StoredListing, StoredListingSchema } from '#market/types.ts'
import { undoListingDecision } from '#market/undo-listing-decision.ts'

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
    description:
      '`changed_since_approval` tells what differs from what was last approved. `review` has what a decision is made by: the item, the ' +
      'prices that the listing is compared with, converted to TL, and the record of its seller.',
    tag,
    answer: ({ rows, pagination }: Page<WaitingListing>) => ({ data: rows, pagination }),
    data: Type.Array(WaitingListingSchema),
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
    method: 'GET',
    path: '/listings/:id/review',
    verb: reviewListing,
    summary: 'What a decision about a listing is made by',
    description: 'The item, the prices that the listing is compared with, converted to TL, and the record of its seller.',
    tag,
    answer: (review: ListingReview) => ({ data: review }),
    data: ListingReviewSchema,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'PATCH',
    path: '/listings/:id',
    verb: correctListing,
    summary: 'Change a listing',
    description: `The status stays; what then differs from what was approved has to be approved when its owner publishes it after a pause. ${CONDITION}`,
    tag,
    answer: answerWith('Listing updated'),
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
    answer: answerWith('Listing published'),
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
    answer: answerWith('Listing rejected'),
    data: StoredListingSchema,
    errors: moves,
  },
  {
    method: 'POST',
    path: '/listings/:id/request-change',
    verb: requestListingChange,
    summary: 'Send a listing back to its owner',
    description: `It is \`rejected\` with the note as its reason, which its owner reads; an edit sends it to approval again. ${CONDITION}`,
    tag,
    answer: answerWith('Change requested'),
    data: StoredListingSchema,
    errors: moves,
  },
  {
    method: 'GET',
    path: '/listing-decisions',
    verb: listListingDecisions,
    summary: 'Decisions about listings, newest first',
    tag,
    answer: ({ rows, pagination }: Page<StoredDecision>) => ({ data: rows, pagination }),
    data: Type.Array(StoredDecisionSchema),
    paged: true,
  },
  {
    method: 'POST',
    path: '/listings/:id/undo-decision',
    verb: undoListingDecision,
    summary: 'Undo the last decision about a listing within a minute',
    description: `The listing is as it was before, at its place in the queue. Refused once anything else has changed the listing. ${CONDITION}`,
    tag,
    answer: answerWith('Decision undone'),
    data: StoredListingSchema,
    errors: ['CONFLICT', 'NOT_FOUND', 'PRECONDITION_FAILED'],
  },
]
