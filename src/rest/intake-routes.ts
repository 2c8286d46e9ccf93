// Listings by file over REST: import, parked rows and export (additions.md, "Listings and sellers").
import { Readable } from 'node:stream'
import { Type } from '#core/input.ts'
import type { Page } from '#core/paging.ts'
import type { FileAnswer, Route } from '#http/route.ts'
import { listingsOfCsv } from '#market/intake/csv-rows.ts'
import { dropParkedListing } from '#market/intake/drop-parked-listing.ts'
import { exportListings } from '#market/intake/export-listings.ts'
import { importListings } from '#market/intake/import-listings.ts'
import { listParkedListings } from '#market/intake/list-parked-listings.ts'
import { placeParkedListing } from '#market/intake/place-parked-listing.ts'
import {
  type IntakeCtx,
  type ListingImport,
  ListingImportSchema,
  type ParkedListing,
  ParkedListingSchema,
  type PlacedListing,
  PlacedListingSchema,
} from '#market/intake/types.ts'

const tag = 'Listings'

export const intakeRoutes: Route<IntakeCtx>[] = [
  {
    method: 'POST',
    path: '/plus/listings/import',
    verb: importListings,
    summary: 'Bring listings in by file',
    description:
      'Takes CSV (`text/csv`) or JSON, where the operator of the service has opened it for the account (403 elsewhere); at most 10,000 rows. ' +
      'A row whose item is found for sure becomes a listing that waits for approval, an unclear one is parked with candidates, a wrong one is ' +
      'refused. A row whose `sku` a listing of yours has already is refused, so that the same file again lists nothing twice. All rows commit ' +
      'at once. Takes an `Idempotency-Key`.',
    tag,
    bodyLimit: 16 * 1024 * 1024,
    bodies: { 'text/csv': listingsOfCsv },
    answer: (data: ListingImport) => ({ data, message: 'File imported' }),
    data: ListingImportSchema,
    errors: ['FORBIDDEN', 'INVALID_JSON', 'PAYLOAD_TOO_LARGE'],
  },
  {
    method: 'GET',
    path: '/plus/listings/export',
    verb: exportListings,
    summary: 'Your listings as CSV',
    description: 'All that are not sold, oldest first, in the columns of an import.',
    tag,
    answer: (lines: AsyncIterable<string>): FileAnswer => ({
      headers: ['content-type', 'text/csv; charset=utf-8', 'content-disposition', 'attachment; filename="listings.csv"'],
      body: Readable.from(lines, { highWaterMark: 1 }),
    }),
  },
  {
    method: 'GET',
    path: '/plus/parked-listings',
    verb: listParkedListings,
    summary: 'Rows of your files that wait for you to name their item, oldest first',
    tag,
    answer: ({ rows, pagination }: Page<ParkedListing>) => ({ data: rows, pagination }),
    data: Type.Array(ParkedListingSchema),
    paged: true,
  },
  {
    method: 'POST',
    path: '/plus/parked-listings/:id',
    verb: placeParkedListing,
    summary: 'Make a listing of a parked row',
    description: 'Of the item that you name, one of the candidates or any other. Takes an `Idempotency-Key`.',
    tag,
    status: 201,
    answer: (data: PlacedListing) => ({ data, message: 'Listing waiting for approval' }),
    data: PlacedListingSchema,
    errors: ['FORBIDDEN', 'INVALID_JSON'],
  },
  {
    method: 'DELETE',
    path: '/plus/parked-listings/:id',
    verb: dropParkedListing,
    summary: 'Drop a parked row',
    tag,
    answer: () => ({ data: undefined, message: 'Row dropped' }),
  },
]
