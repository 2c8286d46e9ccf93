// The public marketplace endpoints (interface.md, "Marketplace listings (Plus)").
import { type Static, Type } from '#core/input.ts'
import type { Answer } from '#http/envelope.ts'
import { type OwnErrorCode, paged, type ReadyAnswer, type Route } from '#http/route.ts'
import { taggedBytes } from '#http/tagged-answer.ts'
import { addListing, LISTING_CREATED } from '#market/intake/add-listing.ts'
import { type CreatedListing, CreatedListingSchema, type IntakeCtx } from '#market/intake/types.ts'
import { updateListingPrice } from '#market/listings/update-listing-price.ts'
import { deleteListing } from '#market/listings/delete-listing.ts'
import { getListing } from '#market/listings/get-listing.ts'
import { listMyListings } from '#market/seller/list-my-listings.ts'
import { listRecentSales } from '#market/orders/list-recent-sales.ts'
import { makeHighlight } from '#market/listings/make-highlight.ts'
import { ListingViewsSchema, type ListingViewsByDay, readListingViews } from '#market/views/read-listing-views.ts'
import { previewPayout } from '#market/seller/preview-payout.ts'
import { readListingVisibility } from '#market/visibility/read-listing-visibility.ts'
import { type FoundListings, searchListings } from '#market/listings/search-listings.ts'
import { LISTINGS_CREATED, listRecords, MAX_LISTED_RECORDS } from '#market/intake/list-records.ts'
import { MAX_RENEWED, type Renewal, RenewedListingSchema, renewListings } from '#market/listings/renew-listings.ts'
import { setListingStatus } from '#market/listings/set-listing-status.ts'
import type { ListingSnapshot } from '#market/snapshot/listings.ts'
import {
  type Forecasted,
  type FoundListing,
  FoundListingSchema,
  HighlightSchema,
  ListingChangeSchema,
  ListingDeletionSchema,
  type ListingResult,
  ListingStatusSchema,
  type ListingVisibility,
  ListingVisibilitySchema,
  type MarketCtx,
  type OwnListing,
  OwnListingSchema,
  type PayoutPreview,
  PayoutPreviewSchema,
} from '#market/marketplace-types.ts'
import { RecentSaleSchema } from '#market/sale-schemas.ts'
import { updateListing } from '#market/listings/update-listing.ts'

type ListingCtx = MarketCtx & IntakeCtx

const tag = 'Listings'
const HEAD = '{"success":true,"data":['
const errors: OwnErrorCode[] = ['INVALID_JSON', 'PRECONDITION_FAILED']
const DRY_RUN = '`dry_run=1` changes nothing and returns what the write would return, with `forecast`.'
const CONDITION = 'Send the `ETag` of the response as `If-Match` with the next change: 412 if the listing has changed since.'

/** Listings, sales and highlights; searches are served from memory as serialised bytes. */
export function listingRoutes(listings: ListingSnapshot): Route<ListingCtx>[] {
  const page = ({ rows, flags, details, term, pagination, isCurrent }: FoundListings): ReadyAnswer => {
    const state = pagination.total * 31 + pagination.current_page * 7 + pagination.per_page
    const tail = `],"pagination":${JSON.stringify(pagination)}}`
    const shown = listings.shownOf(rows)
    if (details) return { ...taggedBytes(listings.pageBytes(rows, flags, HEAD, tail, details)), shown, term }
    return {
      tag: listings.pageTag(rows, flags, state),
      bytes: () => listings.pageBytes(rows, flags, HEAD, tail),
      isCurrent,
      shown,
      term,
    }
  }
  return [
    {
      method: 'GET',
      path: '/plus/listings',
      verb: searchListings,
      summary: 'Search published listings',
      description: 'Returns `id`, `title`, `slug` and `price`; the `with_*` flags add more fields. Totals are exact.',
      tag,
      answer: page,
      data: Type.Array(FoundListingSchema),
      paged: true,
    },
    {
      method: 'GET',
      path: '/plus/listings/:id',
      verb: getListing,
      summary: 'Read a listing',
      description:
        'A published listing, or your own in any status with all fields of `my-listings`; 404 otherwise. ' +
        'Send the `ETag` of your own listing as `If-Match` with the next change.',
      tag,
      answer: (listing: FoundListing & Partial<OwnListing>) => ({ data: listing, ...(listing.etag !== undefined && { etag: listing.etag }) }),
      data: Type.Union([FoundListingSchema, OwnListingSchema]),
      errors: ['NOT_FOUND'],
    },
    ...READS,
    ...WRITES,
  ]
}

/** Reads that come from the database. */
const READS: Route<ListingCtx>[] = [
  {
    path: '/plus/my-listings',
    ...paged(listMyListings, OwnListingSchema),
    summary: 'List your own listings in every status, newest first',
    tag,
  },
  {
    path: '/plus/recent-sales',
    ...paged(listRecentSales, RecentSaleSchema),
    summary: 'List the latest sales of the marketplace',
    description: 'Sellers are not disclosed.',
    tag,
  },
  {
    method: 'GET',
    path: '/plus/listings/:id/visibility',
    verb: readListingVisibility,
    summary: 'Explain why buyers cannot find your listing',
    description: '`reasons` is empty if and only if a search can find the listing. Own listings only; 404 otherwise.',
    tag,
    answer: (data: ListingVisibility) => ({ data }),
    data: ListingVisibilitySchema,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'GET',
    path: '/plus/listings/:id/views',
    verb: readListingViews,
    summary: 'Read how often searches returned your listing',
    description:
      'A view is a response of `GET /plus/listings` with the listing to another account, counted at most once for each key and hour on each node. ' +
      'Views appear within ten seconds. Own listings only; 404 otherwise.',
    tag,
    answer: (data: ListingViewsByDay) => ({ data }),
    data: ListingViewsSchema,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'GET',
    path: '/plus/payout-preview',
    verb: previewPayout,
    summary: 'Calculate a payout',
    description: 'For a `price`, or for the lowest price that pays at least `net`; give exactly one of the two. Calculated for a sale of one unit.',
    tag,
    answer: (data: PayoutPreview) => ({ data }),
    data: PayoutPreviewSchema,
  },
]

function changed({ message, id, price, status, etag }: ListingResult): Answer {
  return { message, data: { id, price, status }, etag }
}

/** A write that accepts `dry_run` in its query; the response to a dry run is the forecast. */
function forecastable(route: Route<ListingCtx>): Route<ListingCtx> {
  const { answer, description } = route
  return {
    ...route,
    description: `${description} ${DRY_RUN}`,
    answer: (result: Forecasted) => {
      const answered = answer(result as never) as Answer
      const { forecast } = result
      return forecast ? { ...answered, data: { ...(answered.data as object | undefined), forecast } } : answered
    },
  }
}

const WRITES: Route<ListingCtx>[] = [
  {
    method: 'POST',
    path: '/plus/listings',
    verb: addListing,
    summary: 'Create a listing',
    description:
      'For accounts that may import listings (otherwise 403), within the same quota and with the checks of a row of a file: the listing waits for ' +
      'approval, and a `sku` of another listing of yours is refused. Give `item_id`, or `card` with set and number; a card that fits no item or ' +
      'several is refused: `POST /items/lookup` lists the candidates. Without a title, name, number and set of the item are used. ' +
      '`dry_run=1` changes nothing and returns what the write would return, with `forecast`. Accepts an `Idempotency-Key`.',
    tag,
    status: 201,
    answer: (listing: CreatedListing) => ({ data: listing, message: LISTING_CREATED, etag: listing.etag }),
    data: CreatedListingSchema,
    errors: ['FORBIDDEN', 'INVALID_JSON'],
  },
  {
    method: 'POST',
    path: '/plus/collections/:id/list',
    verb: listRecords,
    summary: 'Put records up for sale',
    description:
      'Makes a listing, pending approval, of each row, for accounts that may import listings (otherwise 403) and within the same quota; all rows or ' +
      `none, at most ${MAX_LISTED_RECORDS}. Item and grade are those of the record, which the listing names as \`record_id\`: a sale takes its copies out of the ` +
      'record and a refund returns them. More copies than the record has beside its other listings are refused (409 `NOT_ENOUGH_OWNED`). ' +
      '`dry_run=1` changes nothing and adds `forecast` to each listing. Accepts an `Idempotency-Key`.',
    tag: 'Collections',
    status: 201,
    answer: (listings: CreatedListing[]) => ({ data: listings, message: LISTINGS_CREATED }),
    data: Type.Array(CreatedListingSchema),
    errors: ['FORBIDDEN', 'INVALID_JSON', 'NOT_ENOUGH_OWNED'],
  },
  forecastable({
    method: 'PATCH',
    path: '/plus/listings/:id/price',
    verb: updateListingPrice,
    summary: 'Change the price of a listing',
    description: `The listing needs no new approval. ${CONDITION}`,
    tag,
    answer: changed,
    data: ListingChangeSchema,
    errors,
  }),
  forecastable({
    method: 'PATCH',
    path: '/plus/listings/:id',
    verb: updateListing,
    summary: 'Change fields of a listing',
    description: `Changing any field other than \`price\`, \`quantity\` and \`sku\` requires a new approval: the listing is \`pending\` and hidden until then. ${CONDITION}`,
    tag,
    answer: changed,
    data: ListingChangeSchema,
    errors,
  }),
  forecastable({
    method: 'POST',
    path: '/plus/listings/:id/status',
    verb: setListingStatus,
    summary: 'Pause or publish a listing',
    description:
      `\`data.status\` is the result of \`publish\`: \`active\`, or \`pending\` if the listing needs approval again. ` +
      `Accepts an \`Idempotency-Key\`. ${CONDITION}`,
    tag,
    queryFields: ['action'],
    answer: ({ message, id, status, etag }: ListingResult) => ({ message, data: { id, status }, etag }),
    data: ListingStatusSchema,
    errors,
  }),
  {
    method: 'POST',
    path: '/plus/listings/renew',
    verb: renewListings,
    summary: 'Renew listings',
    description:
      'Starts a new publication period for active, paused and expired listings that have not changed since their approval; changed ' +
      `ones become pending. Give up to ${MAX_RENEWED.toLocaleString('en')} \`ids\`, or renew all that end within a number of days. Refused listings are reported ` +
      `by id; the others are renewed. Accepts an \`Idempotency-Key\`. ${DRY_RUN}`,
    tag,
    answer: ({ listings, more, message }: Renewal) => ({ data: listings, message, extra: { more } }),
    data: Type.Array(RenewedListingSchema),
    extra: { more: Type.Boolean({ description: 'Whether more listings end within the requested days; if so, send the request again' }) },
    errors: ['INVALID_JSON'],
  },
  forecastable({
    method: 'DELETE',
    path: '/plus/listings/:id',
    verb: deleteListing,
    summary: 'Delete a listing permanently',
    description: 'Allowed in any status; its sales are kept.',
    tag,
    answer: () => ({ data: undefined, message: 'Listing deleted' }),
    data: Type.Optional(ListingDeletionSchema),
    errors,
  }),
  forecastable({
    method: 'POST',
    path: '/plus/make-highlight',
    verb: makeHighlight,
    summary: 'Highlight a published listing for one credit',
    description: 'Send `id` in the query or the body. An active highlight is extended. Accepts an `Idempotency-Key` and `If-Match`.',
    tag,
    queryFields: ['id'],
    answer: ({ id, remaining_highlight_credits }: Static<typeof HighlightSchema>) => ({
      message: 'Listing highlighted',
      data: { id, remaining_highlight_credits },
    }),
    data: HighlightSchema,
    errors,
  }),
]
