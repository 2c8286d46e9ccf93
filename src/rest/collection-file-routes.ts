// Collections by file over REST: import, what the columns of files hold, and export.
import { Readable } from 'node:stream'
import { exportCollection, type ExportCtx } from '#collections/export/export-collection.ts'
import {
  type CollectionFileImport,
  CollectionFileImportSchema,
  importCollectionFile,
  MAX_FILE_CHARACTERS,
  MAX_FILE_ROWS,
} from '#collections/import/import-file.ts'
import type { ImportCtx } from '#collections/import/read-file.ts'
import { type CollectionColumns, CollectionColumnsSchema, getCollectionColumns, setCollectionColumns } from '#collections/import/saved-columns.ts'
import { invalid } from '#core/errors.ts'
import { reason } from '#core/problems.ts'
import type { FileAnswer, Route } from '#http/route.ts'
import { MAX_SAVED_COLUMNS } from '#intake/saved-columns.ts'

const tag = 'Collections'

export const collectionFileRoutes: Route<ImportCtx & ExportCtx>[] = [
  {
    method: 'POST',
    path: '/plus/collections/:id/import',
    verb: importCollectionFile,
    summary: 'Import a file into your collection',
    description:
      `Accepts CSV (\`text/csv\`), or JSON with its text in \`file\`, with at most ${MAX_FILE_ROWS.toLocaleString('en')} rows. The file may be an export of another app, ` +
      'which is recognised by its header, or have any other columns: `columns` says what each was taken as, and `PUT /plus/collections/columns` ' +
      'corrects it. A row with a certain match becomes a record; any other creates nothing and says why, with candidates. Importing the same file ' +
      'again adds nothing. All records are committed in one transaction. Accepts an `Idempotency-Key`.',
    tag,
    bodyLimit: MAX_FILE_CHARACTERS,
    queryFields: ['format'],
    bodies: { 'text/csv': async (body) => ({ file: textIn(body) }) },
    answer: (data: CollectionFileImport) => ({ data, message: 'File imported' }),
    data: CollectionFileImportSchema,
    errors: ['INVALID_JSON', 'PAYLOAD_TOO_LARGE'],
  },
  {
    method: 'GET',
    path: '/plus/collections/columns',
    verb: getCollectionColumns,
    summary: 'Read what the columns of your collection files hold',
    description: 'As you saved it; `columns` is empty if you saved nothing.',
    tag,
    answer: (data: CollectionColumns) => ({ data }),
    data: CollectionColumnsSchema,
  },
  {
    method: 'PUT',
    path: '/plus/collections/columns',
    verb: setCollectionColumns,
    summary: 'Save what the columns of your collection files hold',
    description:
      `Replaces all saved columns; at most ${MAX_SAVED_COLUMNS}. Imports of files that are of no known format read these columns as you say, and guess only ` +
      'the others. A file in which two columns hold the same is refused. An empty list removes them.',
    tag,
    answer: (data: CollectionColumns) => ({ data, message: 'Columns saved' }),
    data: CollectionColumnsSchema,
    errors: ['INVALID_JSON'],
  },
  {
    method: 'GET',
    path: '/plus/collections/:id/export',
    verb: exportCollection,
    summary: 'Export your collection as a file, oldest record first',
    description:
      'As `mintmark-csv`, which restores the records without loss, or in the `format` of another app, which holds less. `mintmark-lots` has ' +
      'all lots and disposals instead, from which the profit can be computed again. ' +
      'Cells a spreadsheet would run as formulas start with an apostrophe.',
    tag,
    files: { types: ['text/csv'] },
    answer: (lines: AsyncIterable<string>): FileAnswer => ({
      headers: ['content-type', 'text/csv; charset=utf-8', 'content-disposition', 'attachment; filename="collection.csv"'],
      body: Readable.from(lines, { highWaterMark: 1 }),
    }),
    errors: ['CONFLICT', 'NOT_FOUND'],
  },
]

/** @throws VALIDATION_ERROR for bytes that are not UTF-8 */
function textIn(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    throw invalid('file', 'file', { must: reason('utf8', { part: 'file' }) })
  }
}
