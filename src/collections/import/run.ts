// Imports a file into a collection: matched rows become records, others are parked, existing records stay unchanged.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { sql } from 'kysely'
import type { CatalogueNode } from '#catalogue/context.ts'
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { invalid, notFound } from '#core/errors.ts'
import { FeedError, gunzip } from '#core/files/feed.ts'
import { id } from '#core/fields.ts'
import { ReasonFields, type Static, Type } from '#core/input.ts'
import { type Reason, reason, textOf } from '#core/problems.ts'
import { runInSlices } from '#core/yield-to-event-loop.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import type { FileLine } from '#intake/cells.ts'
import { candidateOf, type Match, matchItems } from '#intake/match-items.ts'
import { type NewParked, parkedTables } from '#intake/parked.ts'
import { insertRecords, type NewRecord } from '../records/insert-records.ts'
import { lockCollection } from '../records/store.ts'
import type { CollectionEntry, CollectionFormat } from './entries.ts'
import { COLLECTION_FORMATS } from './formats.ts'
import { ExistingRecords } from './existing-records.ts'

export const CollectionImportSchema = Type.Object(
  {
    rows_read: Type.Integer(),
    added: Type.Integer({ description: 'Records created' }),
    unchanged: Type.Integer({ description: 'Rows already imported, and rows with a quantity of 0' }),
    parked: Type.Integer({ description: 'Rows parked until someone chooses their item' }),
    rejected: Type.Integer({ description: 'Rows with invalid content' }),
    errors: Type.Array(Type.Object({ line: Type.Integer(), message: Type.String(), field: Type.Optional(Type.String()), ...ReasonFields }), {
      description: 'The first 1,000 rejected rows',
    }),
  },
  { title: 'CollectionImport' },
)
export type CollectionImport = Static<typeof CollectionImportSchema>

export type ImportCtx = WriteCtx & CatalogueNode

/** A file on disk, compressed with gzip or not. */
type CollectionFile = { path: string; gzip: boolean }

/** A row of the file with the item and grade that it matches, or the reason why it is parked. */
type MatchedRow = { line: number; entry: CollectionEntry } & (RecordMatch | Unmatched)
type RecordMatch = { itemId: number; gradeId: number | null }
type Unmatched = Extract<Match, { why: Reason }>

const MAX_STORED_ERRORS = 1_000
const INSERTED_AT_ONCE = 1_000
/** Maximum entries in memory while one file is imported; larger collections need several files. */
const MAX_ROWS = 100_000
const MAX_BYTES = 32 * 1024 * 1024

export const importCollection = verb(
  {
    name: 'importCollection',
    needs: 'support',
    input: Type.Object({
      id: id('collection'),
      format: Type.String({ description: `One of ${COLLECTION_FORMATS.map((format) => format.name).join(', ')}` }),
      file: Type.Unknown({ description: 'The file, plain or gzip-compressed' }),
    }),
  },
  async (ctx: ImportCtx, { id: collectionId, format: name, file }): Promise<CollectionImport> => {
    const report: CollectionImport = { rows_read: 0, added: 0, unchanged: 0, parked: 0, rejected: 0, errors: [] }
    const rows = await readAll(ctx, formatOf(name), file as CollectionFile, report)
    const { unchanged } = report
    return change(ctx, async (tx, note) => {
      // Runs again after a deadlock, so the counts restart at zero.
      Object.assign(report, { added: 0, parked: 0, unchanged })
      const collection = await lockCollection(tx, collectionId)
      await write(tx, collection.id, name, rows, report)
      const { errors: _errors, ...counts } = report
      note.audit({
        action: 'collection.import',
        subject: 'collection',
        id: collection.id,
        after: { format: name, ...counts },
      })
      return report
    })
  },
)

function formatOf(name: string): CollectionFormat {
  const format = COLLECTION_FORMATS.find((one) => one.name === name)
  if (format) return format
  throw notFound('no_format', { name, values: COLLECTION_FORMATS.map((one) => one.name) })
}

/** Reads and matches the whole file before locking anything. @throws VALIDATION_ERROR for a file of another format */
async function readAll(ctx: ImportCtx, format: CollectionFormat, file: CollectionFile, report: CollectionImport): Promise<MatchedRow[]> {
  const rows: MatchedRow[] = []
  const stream = createReadStream(file.path)
  try {
    const bytes = atMost(MAX_BYTES, file.gzip ? gunzip(stream) : stream)
    for await (const lines of format.read({ bytes, fileName: null })) {
      report.rows_read += lines.length
      if (report.rows_read > MAX_ROWS) throw new FeedError(reason('at_most', { part: 'file', units: 'rows', max: MAX_ROWS }))
      const entries = entriesOf(lines, report)
      const items = entries.map(({ fields }) => fields.item)
      for (const [i, match] of (await matchItems(ctx, items)).entries()) {
        const { line, fields: entry } = entries[i]!
        rows.push({ line, entry, ...withGrade(ctx.catalogue, entry.label, match) })
      }
      // Lines without an entry take time, too, so yield after every batch of lines.
      await new Promise((resolve) => setImmediate(resolve))
    }
  } catch (error) {
    if (error instanceof FeedError) throw invalid('file', 'file', { must: error.why })
    throw error
  } finally {
    stream.destroy()
  }
  return rows
}

async function* atMost(most: number, bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let size = 0
  for await (const chunk of bytes) {
    size += chunk.length
    if (size > most) throw new FeedError(reason('at_most', { part: 'file', units: 'bytes', max: most }))
    yield chunk
  }
}

function entriesOf(lines: FileLine<CollectionEntry>[], report: CollectionImport): { line: number; fields: CollectionEntry }[] {
  return lines.flatMap((row) => {
    if ('fields' in row) return [row]
    const { line, refused } = row
    if (refused === null) report.unchanged += 1
    else report.rejected += 1
    if (refused && report.errors.length < MAX_STORED_ERRORS) report.errors.push({ line, message: textOf(refused), ...refused })
    return []
  })
}

/** The matched item must also have the grade of the row. */
function withGrade(catalogue: Catalogue, label: string | null, match: Match): RecordMatch | Unmatched {
  if ('why' in match) return match
  const { itemId } = match
  if (label === null) return { itemId, gradeId: null }
  const row = catalogue.items.rowOf(itemId)
  const grade = catalogue.labels.ofLabel(label)
  if (row >= 0 && grade && catalogue.items.groupIds(row).includes(grade.parentId!)) return { itemId, gradeId: grade.id }
  return { why: reason('grade_missing', { name: label }), candidates: row < 0 ? [] : [candidateOf(catalogue, row)] }
}

async function write(tx: Tx, collectionId: number, format: string, rows: MatchedRow[], report: CollectionImport): Promise<void> {
  const existing = await ExistingRecords.load(tx, collectionId)
  // Records that the file created earlier come first; only the remaining ones are compared by their current values.
  const open: { row: MatchedRow; key: string }[] = []
  await runInSlices(rows.length, (from, to) => {
    for (const row of rows.slice(from, to)) {
      const key = entryKey(row.entry)
      if (!existing.takeByRow(key)) open.push({ row, key })
    }
  })
  const records: NewRecord[] = []
  const parked: NewParked<CollectionEntry>[] = []
  const unparked: number[] = []
  const sort = ({ row, key }: { row: MatchedRow; key: string }) => {
    const waiting = existing.takeParked(key)
    if ('why' in row) {
      if (!waiting) parked.push({ ...row, key })
      return
    }
    const record = recordOf(collectionId, row.entry, row.itemId, row.gradeId, key)
    if (waiting?.decided || existing.takeByContent(record)) return
    if (waiting) unparked.push(waiting.id)
    records.push(record)
  }
  await runInSlices(open.length, (from, to) => open.slice(from, to).forEach(sort))
  for (let from = 0; from < records.length; from += INSERTED_AT_ONCE) {
    const added = await insertRecords(tx, records.slice(from, from + INSERTED_AT_ONCE))
    const refused = added.find((one) => 'refused' in one)
    // An item or a grade was deleted between matching and writing: store nothing; the client can send the file again.
    if (refused) throw invalid('file', 'catalogue_changed')
  }
  if (unparked.length > 0) await sql`delete from collection_parked_rows where id = any(${unparked}::int8[])`.execute(tx)
  for (const given of parkedTables(parked)) {
    await sql`
      with given as (select * from ${given}), parked as (
        insert into collection_parked_rows (collection_id, format, line, import_key, reason, entry, candidates)
        select ${collectionId}, ${format}, line, key, reason, entry, candidates from given order by line
        returning id, line
      )
      insert into parked_row_reasons (parked_row_id, rule, params)
      select parked.id, given.rule, given.params from parked join given using (line)`.execute(tx)
  }
  report.added = records.length
  report.parked = parked.length
  report.unchanged += rows.length - records.length - parked.length
}

/** A row of a file as a record. */
export function recordOf(collectionId: number, entry: CollectionEntry, itemId: number, gradeId: number | null, importKey: string): NewRecord {
  const { item: _item, label: _label, ...copies } = entry
  return { collectionId, ownerId: null, itemId, gradeId, ...copies, importKey }
}

/** The content of a row, independent of its line: identifies the same row in a later file. */
function entryKey(entry: CollectionEntry): string {
  return createHash('sha256').update(JSON.stringify(entry)).digest('base64url')
}
