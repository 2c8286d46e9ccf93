// Operator API: listings and their approval, and certificates of graded cards.
import type { CatalogueNode } from '#catalogue/context.ts'
import type { MessageText } from '#core/problem-texts/messages.ts'
import type { Answer } from '#http/envelope.ts'
import { paged, type OwnErrorCode, type Route } from '#http/route.ts'
import { approveListing, rejectListing, requestListingChange } from '#market/approval/decide-listing.ts'
import { getCertificate, type StoredCertificateAnswer, StoredCertificateSchema } from '#market/certificates/get-certificate.ts'
import {
  type CertificatesReport,
  CertificatesReportSchema,
  certificatesOfCsv,
  importCertificates,
  MAX_CERTIFICATES,
} from '#market/certificates/import-certificates.ts'
import { correctListing } from '#market/listings/correct-listing.ts'
import { createListing } from '#market/listings/create-listing.ts'
import { getStoredListing, listListings } from '#market/listings/stored-listings.ts'
import { StoredDecisionSchema } from '#market/approval/decisions.ts'
import { type ListingReview, ListingReviewSchema } from '#market/approval/review.ts'
import { listListingDecisions, listWaiting, reviewListing, WaitingListingSchema } from '#market/approval/approval-queue.ts'
import { type MarketWriteCtx, type StoredListing, StoredListingSchema } from '#market/marketplace-types.ts'
import { undoListingDecision } from '#market/approval/undo-listing-decision.ts'

const tag = 'Listings'
const moves: OwnErrorCode[] = ['INVALID_JSON', 'CONFLICT', 'NOT_FOUND', 'PRECONDITION_FAILED']
const CONDITION = 'Accepts `If-Match` with the `etag` of the listing: 412 if it has changed since you read it.'

/** The listing, with its entity tag also in the ETag header. */
const answerWith =
  (message?: MessageText) =>
  (listing: StoredListing): Answer => ({ data: listing, etag: listing.etag, ...(message !== undefined && { message }) })

export const listingRoutes: Route<MarketWriteCtx>[] = [
  {
    method: 'POST',
    path: '/listings',
    verb: createListing,
    summary: 'Create a listing',
    description: 'It is `pending` until it is approved.',
    tag,
    status: 201,
    answer: answerWith('Listing pending approval'),
    data: StoredListingSchema,
    errors: ['INVALID_JSON'],
  },
  {
    path: '/listings',
    ...paged(listListings, StoredListingSchema),
    summary: 'List listings, newest first',
    tag,
  },
  {
    path: '/listings/waiting',
    ...paged(listWaiting, WaitingListingSchema),
    summary: 'List pending listings, longest waiting first',
    description:
      '`changed_since_approval` lists the differences from the last approved version. `review` contains the data for a decision: ' +
      "the item, the prices the listing is compared with, converted to TL, and the seller's history.",
    tag,
  },
  {
    method: 'GET',
    path: '/listings/:id',
    verb: getStoredListing,
    summary: 'Read a listing',
    tag,
    answer: answerWith(),
    data: StoredListingSchema,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'GET',
    path: '/listings/:id/review',
    verb: reviewListing,
    summary: 'Read the data for a decision about a listing',
    description: "The item, the prices the listing is compared with, converted to TL, and the seller's history.",
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
    description: `The status stays unchanged; differences from the approved version need approval when the owner publishes the listing after a pause. ${CONDITION}`,
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
    description: `The listing is published for a new period. ${CONDITION}`,
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
    description: `The owner sees the reason; an edit submits the listing for approval again. ${CONDITION}`,
    tag,
    answer: answerWith('Listing rejected'),
    data: StoredListingSchema,
    errors: moves,
  },
  {
    method: 'POST',
    path: '/listings/:id/request-change',
    verb: requestListingChange,
    summary: 'Request a change to a listing',
    description: `The listing is \`rejected\` with the note as its reason, which the owner sees; an edit submits it for approval again. ${CONDITION}`,
    tag,
    answer: answerWith('Change requested'),
    data: StoredListingSchema,
    errors: moves,
  },
  {
    path: '/listing-decisions',
    ...paged(listListingDecisions, StoredDecisionSchema),
    summary: 'List decisions about listings, newest first',
    tag,
  },
  {
    method: 'POST',
    path: '/listings/:id/undo-decision',
    verb: undoListingDecision,
    summary: 'Undo the last decision about a listing, within a minute',
    description: `The listing is restored to its previous state and place in the queue. Rejected if anything else has changed the listing since. ${CONDITION}`,
    tag,
    answer: answerWith('Decision undone'),
    data: StoredListingSchema,
    errors: ['CONFLICT', 'NOT_FOUND', 'PRECONDITION_FAILED'],
  },
]

export const certificateRoutes: Route<MarketWriteCtx & CatalogueNode>[] = [
  {
    method: 'POST',
    path: '/certificates',
    verb: importCertificates,
    summary: 'Load certificates of graded cards',
    description:
      'CSV (`text/csv`) with the columns `grader`, `cert`, `grade`, `item_id` and optionally `label` and `qualifier`, or JSON, of at most ' +
      `${MAX_CERTIFICATES.toLocaleString('en')} rows. A certificate that is already known is replaced. Invalid rows are reported and do not affect the ` +
      'others. A number or grade that looks unusual for its grader is loaded with a warning. A listing with only a certificate gets its item and ' +
      'label from here.',
    tag: 'Certificates',
    bodyLimit: 4 * 1024 * 1024,
    bodies: { 'text/csv': certificatesOfCsv },
    answer: (data: CertificatesReport) => ({ data, message: 'Certificates loaded' }),
    data: CertificatesReportSchema,
    errors: ['INVALID_JSON', 'PAYLOAD_TOO_LARGE'],
  },
  {
    method: 'GET',
    path: '/certificates',
    verb: getCertificate,
    summary: 'Read what is known of a certificate',
    description:
      'What the file of certificates says, and every listing and sale that carries it. An unknown certificate is answered with empty values.',
    tag: 'Certificates',
    answer: (data: StoredCertificateAnswer) => ({ data }),
    data: StoredCertificateSchema,
  },
]
