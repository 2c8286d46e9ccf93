// Listings by file over REST: import, parked rows and export.
import { Readable } from 'node:stream'
import { MAX_SAVED_COLUMNS } from '#intake/saved-columns.ts'
import { paged, type FileAnswer, type Route } from '#http/route.ts'
import { listingsOfCsv } from '#market/intake/csv-rows.ts'
import { exportListings } from '#market/intake/export-listings.ts'
import { importListings } from '#market/intake/import-listings.ts'
import { KEEP_DAYS } from '#market/intake/import-store.ts'
import { listListingImports } from '#market/intake/list-listing-imports.ts'
import { dropParkedListing, listParkedListings, placeParkedListing } from '#market/intake/parked-listings.ts'
import { getListingColumns, type ListingColumns, ListingColumnsSchema, savedListingColumns, setListingColumns } from '#market/intake/saved-columns.ts'
import { undoListingImport } from '#market/intake/undo-listing-import.ts'
import {
  type IntakeCtx,
  type ListingImport,
  ListingImportSchema,
  ListingImportSummarySchema,
  ParkedListingSchema,
  type PlacedListing,
  PlacedListingSchema,
  type UndoneImport,
  UndoneImportSchema,
} from '#market/intake/types.ts'

const tag = 'Listings'

export const intakeRoutes: Route<IntakeCtx>[] = [
  {
    method: 'POST',
    path: '/plus/listings/import',
    verb: importListings,
    summary: 'Import listings from a file',
    description:
      'Accepts CSV (`text/csv`) or JSON with at most 10,000 rows. The operator must enable listing import for the account (otherwise 403). ' +
      'A row with a certain match becomes a pending listing, an ambiguous row is parked with candidates, and an invalid row is refused. ' +
      'A row whose `sku` one of your listings already has is refused, so importing a file again creates no duplicates. All rows are committed ' +
      'in one transaction. CSV may also be a file of Cardmarket, CardTrader or TCGplayer, or have column names in English, German, Turkish or French. ' +
      '`columns` says what each column was taken as; `PUT /plus/listings/columns` corrects it. Accepts an `Idempotency-Key`.',
    tag,
    bodyLimit: 16 * 1024 * 1024,
    bodies: { 'text/csv': async (body, ctx) => listingsOfCsv(body, await savedListingColumns(ctx)) },
    answer: (data: ListingImport) => ({ data, message: 'File imported' }),
    data: ListingImportSchema,
    errors: ['FORBIDDEN', 'INVALID_JSON', 'PAYLOAD_TOO_LARGE'],
  },
  {
    method: 'GET',
    path: '/plus/listings/columns',
    verb: getListingColumns,
    summary: 'Read what the columns of your files hold',
    description: 'As you saved it; `columns` is empty if you saved nothing.',
    tag,
    answer: (data: ListingColumns) => ({ data }),
    data: ListingColumnsSchema,
  },
  {
    method: 'PUT',
    path: '/plus/listings/columns',
    verb: setListingColumns,
    summary: 'Save what the columns of your files hold',
    description:
      `Replaces all saved columns; at most ${MAX_SAVED_COLUMNS}. Imports of CSV read these columns as you say, and guess only the others. ` +
      'A file in which two columns hold the same is refused. An empty list removes them.',
    tag,
    answer: (data: ListingColumns) => ({ data, message: 'Columns saved' }),
    data: ListingColumnsSchema,
    errors: ['INVALID_JSON'],
  },
  {
    path: '/plus/listings/imports',
    ...paged(listListingImports, ListingImportSummarySchema),
    summary: 'List your imports of listings, newest first',
    description: `Kept for ${KEEP_DAYS} days.`,
    tag,
  },
  {
    method: 'POST',
    path: '/plus/listings/imports/:id/undo',
    verb: undoListingImport,
    summary: 'Undo an import of listings',
    description:
      'Removes the listings that the import created, unless they were sold, changed or highlighted since: those are `kept`, with the reason. ' +
      'An approval, a pause or a renewal is not a change. Also discards the rows that the import parked. Accepts an `Idempotency-Key`.',
    tag,
    answer: (data: UndoneImport) => ({ data, message: 'Import undone' }),
    data: UndoneImportSchema,
    errors: ['INVALID_JSON'],
  },
  {
    method: 'GET',
    path: '/plus/listings/export',
    verb: exportListings,
    summary: 'Export your listings as CSV',
    description: 'All unsold listings, oldest first, with the columns of an import.',
    tag,
    files: { types: ['text/csv'] },
    answer: (lines: AsyncIterable<string>): FileAnswer => ({
      headers: ['content-type', 'text/csv; charset=utf-8', 'content-disposition', 'attachment; filename="listings.csv"'],
      body: Readable.from(lines, { highWaterMark: 1 }),
    }),
  },
  {
    path: '/plus/parked-listings',
    ...paged(listParkedListings, ParkedListingSchema),
    summary: 'List your parked rows, oldest first',
    tag,
  },
  {
    method: 'POST',
    path: '/plus/parked-listings/:id',
    verb: placeParkedListing,
    summary: 'Create a listing from a parked row',
    description: 'Uses the item you give: one of the candidates or any other. Accepts an `Idempotency-Key`.',
    tag,
    status: 201,
    answer: (data: PlacedListing) => ({ data, message: 'Listing created, pending approval' }),
    data: PlacedListingSchema,
    errors: ['FORBIDDEN', 'INVALID_JSON'],
  },
  {
    method: 'DELETE',
    path: '/plus/parked-listings/:id',
    verb: dropParkedListing,
    summary: 'Discard a parked row',
    tag,
    answer: () => ({ data: undefined, message: 'Row discarded' }),
  },
]
