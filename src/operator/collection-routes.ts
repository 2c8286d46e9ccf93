// Operator API: collections of accounts, their imports and exports.
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { changeCollection } from '#collections/change-collection.ts'
import { createCollection } from '#collections/create-collection.ts'
import { deleteCollection } from '#collections/delete-collection.ts'
import { exportCollection, type ExportCtx } from '#collections/export/export-collection.ts'
import { discardParkedRow, listParkedRows, ParkedRowSchema, placeParkedRow } from '#collections/import/parked.ts'
import type { ImportCtx } from '#collections/import/read-file.ts'
import { type CollectionImport, CollectionImportSchema, importCollection } from '#collections/import/run.ts'
import { listStoredCollections } from '#collections/list-stored-collections.ts'
import { readWorthHistory } from '#collections/read-worth-history.ts'
import {
  type CollectionReadCtx,
  type CollectionRecord,
  CollectionRecordSchema,
  type StoredCollection,
  StoredCollectionSchema,
  type WorthDay,
  WorthDaySchema,
} from '#collections/records/types.ts'
import { Type } from '#core/input.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import { paged, type Route } from '#http/route.ts'
import type { ImportQueue } from '#imports/queue.ts'
import type { Upload } from '#imports/upload.ts'
import { acceptUploads } from './uploads.ts'

const tag = 'Collections'

export const collectionRoutes: Route<WriteCtx & CollectionReadCtx>[] = [
  {
    method: 'POST',
    path: '/collections',
    verb: createCollection,
    summary: 'Create a collection for an account',
    tag,
    status: 201,
    answer: (collection: StoredCollection) => ({ data: collection, message: 'Collection created' }),
    data: StoredCollectionSchema,
    errors: ['INVALID_JSON'],
  },
  {
    path: '/collections',
    ...paged(listStoredCollections, StoredCollectionSchema),
    summary: 'List collections, oldest first',
    tag,
  },
  {
    method: 'PATCH',
    path: '/collections/:id',
    verb: changeCollection,
    summary: 'Change the name, description or visibility of a collection',
    tag,
    answer: (collection: StoredCollection) => ({ data: collection, message: 'Collection updated' }),
    data: StoredCollectionSchema,
    errors: ['INVALID_JSON', 'NOT_FOUND'],
  },
  {
    method: 'DELETE',
    path: '/collections/:id',
    verb: deleteCollection,
    summary: 'Delete a collection and all its records',
    tag,
    answer: () => ({ data: undefined, message: 'Collection deleted' }),
    errors: ['NOT_FOUND'],
  },
  {
    method: 'GET',
    path: '/collections/:id/worth-history',
    verb: readWorthHistory,
    summary: 'Daily worth of a collection, oldest first',
    tag,
    answer: (days: WorthDay[]) => ({ data: days }),
    data: Type.Array(WorthDaySchema),
    errors: ['NOT_FOUND'],
  },
]

/** Routes that accept or return files, or process their parked rows. */
export const collectionFileRoutes = (imports: ImportQueue): Route<ImportCtx & ExportCtx>[] => [
  {
    method: 'POST',
    path: '/collections/:id/import/:format',
    verb: importCollection,
    summary: 'Import a file into a collection',
    description:
      'The body is the file, with any content type, optionally gzip-compressed. Rows without a certain match are ' +
      'parked with the best candidates. Importing the same file again adds nothing.',
    tag,
    bodyField: 'file',
    scope: (inner) => acceptFile(inner, imports),
    answer: (report: CollectionImport) => ({ data: report, message: 'File imported' }),
    data: CollectionImportSchema,
    errors: ['NOT_FOUND', 'PAYLOAD_TOO_LARGE'],
  },
  {
    method: 'GET',
    path: '/collections/:id/export',
    verb: exportCollection,
    summary: 'Export a collection as a file, oldest record first',
    description:
      'As `mintmark-csv`, which can be imported again without loss, in the `format` of another app, or as `mintmark-lots`: all lots and disposals. ' +
      'Cells a spreadsheet would run as formulas start with an apostrophe.',
    tag,
    files: { types: ['text/csv'] },
    answer: (lines: AsyncIterable<string>) => ({
      headers: ['content-type', 'text/csv; charset=utf-8', 'content-disposition', 'attachment; filename="collection.csv"'],
      body: Readable.from(lines, { highWaterMark: 1 }),
    }),
    errors: ['NOT_FOUND'],
  },
  {
    path: '/collections/:id/parked',
    ...paged(listParkedRows, ParkedRowSchema),
    summary: 'Imported rows that are parked until someone chooses their item',
    tag,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/collections/:id/parked/:row_id/place',
    verb: placeParkedRow,
    summary: 'Add a parked row to the collection as a record',
    tag,
    answer: (record: CollectionRecord) => ({ data: record, message: 'Record added' }),
    data: CollectionRecordSchema,
    errors: ['CONFLICT', 'INVALID_JSON', 'NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/collections/:id/parked/:row_id/discard',
    verb: discardParkedRow,
    summary: 'Discard a parked row',
    description: 'Importing the same file again does not restore it.',
    tag,
    answer: () => ({ data: undefined, message: 'Row discarded' }),
    errors: ['CONFLICT', 'NOT_FOUND'],
  },
]

/** Stores the body on disk as it arrives, and deletes it after the response. */
function acceptFile(scope: FastifyInstance, imports: ImportQueue): void {
  acceptUploads(scope, imports)
  scope.addHook('onResponse', async (request) => {
    if (request.body) imports.discard(request.body as Upload)
  })
}
