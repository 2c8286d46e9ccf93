// Operator API: prices, their history, and imports.
import { Readable } from 'node:stream'
import { PostedPricesSchema, type PostedPrices, postPrices } from '#catalogue/items/post-prices.ts'
import { readStoredPriceChart, type StoredChartCtx } from '#catalogue/items/read-price-chart.ts'
import { type SetPrice, SetPriceSchema, setPrice } from '#catalogue/items/set-price.ts'
import { Type } from '#core/input.ts'
import { paged, type Route } from '#http/route.ts'
import { ImportFormatSchema, type ListedFormat, listImportFormats } from '#imports/list-import-formats.ts'
import type { ImportQueue } from '#imports/queue.ts'
import { startUploadedImport, type UploadCtx } from '#imports/start-uploaded-import.ts'
import { exportRefusals, getImport, listImports, type RefusalExport } from '#prices/imports/read-imports.ts'
import { revertImport } from '#imports/revert-import.ts'
import { deletePriceMapping, getPriceMapping, listPriceMappings, savePriceMapping } from '#prices/imports/price-mappings.ts'
import { type SavedMapping, SavedMappingSchema } from '#prices/imports/saved-mappings.ts'
import { listPricePoints } from '#prices/history/list-price-points.ts'
import { type PriceChart, PriceChartSchema } from '#prices/history/price-chart.ts'
import { IMPORT_STATUSES, type ImportDetail, ImportDetailSchema, ImportSummarySchema } from '#prices/imports/stored-imports.ts'
import { PricePointSchema, type StoredPricePoint } from '#prices/records/price-types.ts'
import { acceptUploads } from './uploads.ts'

const importRoutes: Route<UploadCtx & StoredChartCtx>[] = [
  {
    path: '/imports',
    ...paged(listImports, ImportSummarySchema),
    summary: 'List imports and price posts, newest first',
    tag: 'Imports',
  },
  {
    method: 'GET',
    path: '/imports/:id',
    verb: getImport,
    summary: 'Read an import: progress, result and rejected rows',
    tag: 'Imports',
    answer: (found: ImportDetail) => ({ data: found }),
    data: ImportDetailSchema,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'GET',
    path: '/imports/:id/refusals.csv',
    verb: exportRefusals,
    summary: 'Export all rejected rows of an import as CSV: file, line, rule and reason',
    description: 'Cells a spreadsheet would run as formulas start with an apostrophe.',
    tag: 'Imports',
    files: { types: ['text/csv'] },
    answer: ({ id, lines }: RefusalExport) => ({
      headers: ['content-type', 'text/csv; charset=utf-8', 'content-disposition', `attachment; filename="import-${id}-refusals.csv"`],
      body: Readable.from(lines, { highWaterMark: 1 }),
    }),
    errors: ['NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/imports/:id/revert',
    verb: revertImport,
    summary: 'Revert an import or price post',
    description:
      'Restores, in one transaction, everything the batch set that nothing newer has replaced, ' +
      'and discards its held prices. Returns the reverting batch, which can be reverted too.',
    tag: 'Imports',
    answer: (batch: ImportDetail) => ({ data: batch }),
    data: ImportDetailSchema,
    errors: ['CONFLICT', 'NOT_FOUND'],
  },
  {
    method: 'GET',
    path: '/import-formats',
    verb: listImportFormats,
    summary: 'List import formats',
    tag: 'Imports',
    answer: (formats: ListedFormat[]) => ({ data: formats }),
    data: Type.Array(ImportFormatSchema),
  },
]

const mappingRoutes: Route<UploadCtx & StoredChartCtx>[] = [
  {
    method: 'GET',
    path: '/price-mappings',
    verb: listPriceMappings,
    summary: 'List saved price list mappings by name',
    tag: 'Imports',
    answer: (mappings: SavedMapping[]) => ({ data: mappings }),
    data: Type.Array(SavedMappingSchema),
  },
  {
    method: 'GET',
    path: '/price-mappings/:name',
    verb: getPriceMapping,
    summary: 'Read a saved mapping',
    tag: 'Imports',
    answer: (mapping: SavedMapping) => ({ data: mapping }),
    data: SavedMappingSchema,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'PUT',
    path: '/price-mappings/:name',
    verb: savePriceMapping,
    summary: 'Create or replace a mapping',
    description: 'Maps the columns of a price list, for imports in the formats prices-csv and prices-ndjson with `map_name`.',
    tag: 'Imports',
    answer: (mapping: SavedMapping) => ({ data: mapping, message: 'Mapping saved' }),
    data: SavedMappingSchema,
    errors: ['INVALID_JSON'],
  },
  {
    method: 'DELETE',
    path: '/price-mappings/:name',
    verb: deletePriceMapping,
    summary: 'Delete a saved mapping',
    tag: 'Imports',
    answer: () => ({ data: undefined, message: 'Mapping deleted' }),
    errors: ['NOT_FOUND'],
  },
]

export const priceRoutes = (imports: ImportQueue): Route<UploadCtx & StoredChartCtx>[] => [
  {
    method: 'POST',
    path: '/prices',
    verb: postPrices,
    summary: 'Set prices',
    description:
      'A list of at most 10,000 prices, recorded as one batch. Each is checked independently: an invalid row is reported ' +
      'with its position and does not affect the others.',
    tag: 'Prices',
    bodyField: 'prices',
    bodyLimit: 4 * 1024 * 1024,
    answer: (posted: PostedPrices) => ({ data: posted }),
    data: PostedPricesSchema,
    errors: ['INVALID_JSON', 'PAYLOAD_TOO_LARGE'],
  },
  {
    method: 'POST',
    path: '/items/:id/prices',
    verb: setPrice,
    summary: 'Set or correct one price of an item',
    description:
      'The price is published regardless of the price rules, and confirmed. The replaced price stays in the history and in the audit ' +
      'log. It is a separate batch, which can be reverted.',
    tag: 'Prices',
    status: 201,
    answer: (set: SetPrice) => ({ data: set, message: 'Price set' }),
    data: SetPriceSchema,
    errors: ['INVALID_JSON', 'NOT_FOUND'],
  },
  {
    method: 'GET',
    path: '/items/:id/price-history',
    verb: listPricePoints,
    summary: "List an item's accepted prices, oldest first",
    description: 'Returns at most the latest 10,000 points; use `from` and `to` for others.',
    tag: 'Prices',
    answer: (points: StoredPricePoint[]) => ({ data: points }),
    data: Type.Array(PricePointSchema),
    errors: ['NOT_FOUND'],
  },
  {
    method: 'GET',
    path: '/items/:id/price-chart',
    verb: readStoredPriceChart,
    summary: "Read the data of an item's price chart",
    description: 'Like `GET /api/v1/items/{id}/price-chart`, with the held prices of the item.',
    tag: 'Prices',
    answer: (chart: PriceChart) => ({ data: chart }),
    data: PriceChartSchema,
    errors: ['NOT_FOUND'],
  },
  ...importRoutes,
  ...mappingRoutes,
  {
    method: 'POST',
    path: '/imports/:format',
    verb: startUploadedImport,
    summary: 'Import a file',
    description:
      'The body is the file, with any content type, optionally gzip-compressed; at most 2 GB. The response is ' +
      'sent once the file is uploaded; follow the import at GET /imports/{id}. Invalid rows are reported and do not fail the ' +
      'import. The formats prices-csv and prices-ndjson require `map` or `map_name`, and a market.',
    tag: 'Imports',
    status: 202,
    bodyField: 'file',
    scope: (inner) => acceptUploads(inner, imports),
    answer: (started: { id: number; status: string }) => ({ data: started, message: 'Import queued' }),
    data: Type.Object({ id: Type.Integer(), status: Type.Enum([...IMPORT_STATUSES]) }, { title: 'StartedImport' }),
    errors: ['NOT_FOUND', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'],
  },
]
