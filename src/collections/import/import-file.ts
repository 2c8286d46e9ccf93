// Imports an account's file into its own collection: matched rows become records, and every row says what became of it.
import { conflict, invalid } from '#core/errors.ts'
import { id, orNull } from '#core/fields.ts'
import { ReasonFields, type Static, Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { reason, textOf } from '#core/problems.ts'
import { ownAccount } from '#core/verb.ts'
import { change, earlierResult } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import { truncate } from '#prices/sources/cells.ts'
import { columnName } from '#intake/column-name.ts'
import type { ColumnReading } from '#intake/csv-body.ts'
import { CandidateFields } from '#intake/parked.ts'
import { RECOGNISED_BY } from '#intake/read-columns.ts'
import { lockCollection, requireCollection } from '../records/store.ts'
import { COLLECTION_FIELDS } from './columns.ts'
import { readerOf, type RowReader } from './entries.ts'
import { COLLECTION_FORMATS, formatOfHeader, IMPORT_FORMATS, MAPPED } from './formats.ts'
import { mappedReader } from './mapped.ts'
import { type ImportCtx, type MatchedRow, readFile, type RefusedRow } from './read-file.ts'
import { savedCollectionColumns } from './saved-columns.ts'
import { type WrittenRow, writeRecords } from './write-records.ts'

/** Maximum rows of a file of an account, and characters of it. */
export const MAX_FILE_ROWS = 10_000
export const MAX_FILE_CHARACTERS = 8 * 1024 * 1024
/** An import compares the file with all records of the collection, in memory. */
const MAX_RECORDS = 100_000
const MAX_COLUMNS = 100

const OUTCOMES = ['added', 'unchanged', 'unmatched', 'refused', 'not_owned'] as const

const Count = (description: string) => Type.Integer({ description })
const Why = Type.Object({ message: Type.String(), field: Type.Optional(Type.String({ description: 'Column of the file' })), ...ReasonFields })

export const CollectionFileImportSchema = Type.Object(
  {
    format: Type.Enum(IMPORT_FORMATS, { description: 'Format that the file was read as; `mapped`: by its columns' }),
    added: Count('Rows that created a record'),
    unchanged: Count('Rows that a record of the collection covers already'),
    unmatched: Count('Rows that match no item for certain; they create nothing'),
    refused: Count('Rows with invalid content'),
    not_owned: Count('Rows of no copy that you own: a quantity of 0, a wish list, a proxy'),
    ignored_columns: Type.Array(Type.String(), { description: 'Columns of the file that were not read, at most 100' }),
    columns: Type.Array(
      Type.Object(
        {
          column: Type.String({ description: 'Name in the header, at most 100 characters of it' }),
          field: orNull(Type.Enum(COLLECTION_FIELDS), { description: 'What it was taken as; null: it was not read' }),
          how: orNull(Type.Enum(RECOGNISED_BY), { description: '`saved`: by the columns that you saved; `exact`, `name`: by its name' }),
        },
        { title: 'CollectionFileColumn' },
      ),
      { description: 'How the first 100 columns of a `mapped` file were understood; empty for other formats' },
    ),
    rows: Type.Array(
      Type.Object(
        {
          line: Type.Integer({ description: 'Line number in the file' }),
          name: orNull(Type.String({ description: 'As written in the row' })),
          outcome: Type.Enum(OUTCOMES),
          record_id: orNull(Type.Integer(), { description: 'Id of the created record; null in a dry run' }),
          candidates: Type.Array(Type.Object(CandidateFields, { title: 'RecordCandidate' }), {
            description: 'Possible items of an unmatched row, best first',
          }),
          why: orNull(Why, { description: 'Why the row is unmatched or refused' }),
        },
        { title: 'CollectionFileRow' },
      ),
      { description: 'In file order' },
    ),
  },
  { title: 'CollectionFileImport' },
)
export type CollectionFileImport = Static<typeof CollectionFileImportSchema>

/** Accounts with an import on this node. */
const importing = new Set<number>()

export const importCollectionFile = writeVerb(
  {
    name: 'importCollectionFile',
    needs: OPERATION_PLAN.importCollectionFile,
    input: Type.Object({
      id: id('collection'),
      format: Type.Optional(Type.Enum(IMPORT_FORMATS, { description: 'Format of the file; recognised by its header if absent' })),
      file: Type.String({
        minLength: 1,
        maxLength: MAX_FILE_CHARACTERS,
        description: 'The text of the file, a CSV',
        examples: ['Card name,Card number,Set name,Quantity\nCharizard,4/102,Base Set,1\n'],
      }),
    }),
  },
  async (ctx: ImportCtx, { id: collectionId, format, file }): Promise<CollectionFileImport> => {
    const accountId = ownAccount(ctx.viewer)
    const earlier = await earlierResult<CollectionFileImport>(ctx)
    if (earlier) return earlier
    await requireCollection(ctx.db.kysely, ctx.viewer, collectionId)
    if (importing.has(accountId)) throw conflict('already', { thing: 'import', state: 'running' })
    importing.add(accountId)
    try {
      return await importOwn(ctx, collectionId, file, format)
    } finally {
      importing.delete(accountId)
    }
  },
)

async function importOwn(ctx: ImportCtx, collectionId: number, file: string, stated: string | undefined) {
  const saved = await savedCollectionColumns(ctx)
  let format = MAPPED
  let readings: ColumnReading[] = []
  let ignored: string[] = []
  const chooseReader = (header: readonly string[]): RowReader => {
    const app = stated === undefined ? formatOfHeader(header) : COLLECTION_FORMATS.find(({ name }) => name === stated)
    if (app) {
      format = app.name
      return readerOf(app, header)
    }
    const mapped = mappedReader(header, saved)
    readings = mapped.readings
    return mapped
  }
  const readerOfHeader = (header: readonly string[]): RowReader => {
    const reader = chooseReader(header)
    ignored = header.filter((column) => column.trim() !== '' && !reader.reads.includes(column)).slice(0, MAX_COLUMNS)
    return reader
  }
  const read = await readFile(ctx, chunksOf(file), readerOfHeader, MAX_FILE_ROWS)
  return change(ctx, async (tx, note) => {
    await requireCollection(tx, ctx.viewer, collectionId)
    const collection = await lockCollection(tx, collectionId)
    if (collection.items_count > MAX_RECORDS) throw tooMany()
    const written = await writeRecords(
      tx,
      collection.id,
      read.filter((row) => 'entry' in row),
      note.at,
    )
    const rows = reportRows(read, written, ctx.rehearsal !== undefined)
    const counts = { added: 0, unchanged: 0, unmatched: 0, refused: 0, not_owned: 0 }
    for (const { outcome } of rows) counts[outcome] += 1
    if (collection.items_count + counts.added > MAX_RECORDS) throw tooMany()
    note.audit({ action: 'collection.import', subject: 'collection', id: collection.id, after: { format, ...counts } })
    const columns = readings.filter(({ column }) => column.trim() !== '').slice(0, MAX_COLUMNS)
    return {
      format,
      ...counts,
      ignored_columns: ignored.map(columnName),
      columns: columns.map(({ column, ...reading }) => ({ column: columnName(column), ...reading })) as CollectionFileImport['columns'],
      rows,
    }
  })
}

function tooMany() {
  return invalid('file', 'file', { must: reason('at_most', { part: 'collection', units: 'records', max: MAX_RECORDS }) })
}

/** One piece at a time: the bytes of the whole text would be a second copy of it. */
async function* chunksOf(text: string): AsyncIterable<Uint8Array> {
  const size = 64 * 1024
  for (let at = 0, end = 0; at < text.length; at = end) {
    // A character of two code units stays whole.
    end = at + size + (/[\uD800-\uDBFF]/.test(text[at + size - 1] ?? '') ? 1 : 0)
    yield Buffer.from(text.slice(at, end))
  }
}

function reportRows(read: readonly (MatchedRow | RefusedRow)[], written: readonly WrittenRow[], isDryRun: boolean): CollectionFileImport['rows'] {
  const outcomes = written.values()
  return read.map((row): CollectionFileImport['rows'][number] => {
    const blank = { line: row.line, record_id: null, candidates: [], why: null }
    if ('refused' in row) {
      if (row.refused === null) return { ...blank, name: null, outcome: 'not_owned' }
      return { ...blank, name: null, outcome: 'refused', why: { message: textOf(row.refused), ...row.refused } }
    }
    const one = outcomes.next().value!
    const shown = { ...blank, name: truncate(row.entry.item.name) }
    if (one.outcome === 'added') return { ...shown, outcome: 'added', record_id: isDryRun ? null : one.recordId }
    if (one.outcome === 'unchanged') return { ...shown, outcome: 'unchanged' }
    const { why, candidates } = one.row
    return { ...shown, outcome: 'unmatched', candidates, why: { message: textOf(why), ...why } }
  })
}
