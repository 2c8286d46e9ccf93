// Imports an operator's file into a collection: matched rows become records, others are parked, existing records stay unchanged.
import { createReadStream } from 'node:fs'
import { sql } from 'kysely'
import { notFound } from '#core/errors.ts'
import { FeedError, gunzip } from '#core/files/feed.ts'
import { id } from '#core/fields.ts'
import { ReasonFields, type Static, Type } from '#core/input.ts'
import { reason, textOf } from '#core/problems.ts'
import { verb } from '#core/verb.ts'
import { change } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import { type NewParked, parkedTables } from '#intake/parked.ts'
import { lockCollection } from '../records/store.ts'
import { type CollectionEntry, type CollectionFormat, readerOf } from './entries.ts'
import { COLLECTION_FORMATS } from './formats.ts'
import { type ImportCtx, type MatchedRow, readFile, type RefusedRow } from './read-file.ts'
import { type WrittenRow, writeRecords } from './write-records.ts'

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

/** A file on disk, compressed with gzip or not. */
type CollectionFile = { path: string; gzip: boolean }

const MAX_STORED_ERRORS = 1_000
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
    const format = formatOf(name)
    const read = await readStored(ctx, format, file as CollectionFile)
    return change(ctx, async (tx, note) => {
      const collection = await lockCollection(tx, collectionId)
      const rows = await writeRecords(
        tx,
        collection.id,
        read.filter((row) => 'entry' in row),
        note.at,
      )
      await park(tx, collection.id, name, rows, ctx.now())
      const { errors, ...counts } = reportOf(read, rows)
      note.audit({
        action: 'collection.import',
        subject: 'collection',
        id: collection.id,
        after: { format: name, ...counts },
      })
      return { ...counts, errors }
    })
  },
)

function formatOf(name: string): CollectionFormat {
  const format = COLLECTION_FORMATS.find((one) => one.name === name)
  if (format) return format
  throw notFound('no_format', { name, values: COLLECTION_FORMATS.map((one) => one.name) })
}

async function readStored(ctx: ImportCtx, format: CollectionFormat, file: CollectionFile): Promise<(MatchedRow | RefusedRow)[]> {
  const stream = createReadStream(file.path)
  try {
    const bytes = atMost(MAX_BYTES, file.gzip ? gunzip(stream) : stream)
    return await readFile(ctx, bytes, (header) => readerOf(format, header), MAX_ROWS)
  } finally {
    stream.destroy()
  }
}

async function* atMost(most: number, bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let size = 0
  for await (const chunk of bytes) {
    size += chunk.length
    if (size > most) throw new FeedError(reason('at_most', { part: 'file', units: 'bytes', max: most }))
    yield chunk
  }
}

/** Parks the rows that match no item, except those that are parked already. */
async function park(tx: Tx, collectionId: number, format: string, rows: readonly WrittenRow[], at: Date): Promise<void> {
  const parked = rows.flatMap((one): NewParked<CollectionEntry>[] => (one.outcome === 'unmatched' && !one.isParked ? [one.row] : []))
  for (const given of parkedTables(parked)) {
    await sql`
      with given as (select * from ${given}), parked as (
        insert into collection_parked_rows (collection_id, format, line, import_key, reason, entry, candidates, parked_at)
        select ${collectionId}, ${format}, line, key, reason, entry, candidates, ${at}::timestamptz from given order by line
        returning id, line
      )
      insert into parked_row_reasons (parked_row_id, rule, params)
      select parked.id, given.rule, given.params from parked join given using (line)`.execute(tx)
  }
}

function reportOf(read: readonly (MatchedRow | RefusedRow)[], rows: readonly WrittenRow[]): CollectionImport {
  const refused = read.flatMap((row) => ('refused' in row && row.refused ? [{ line: row.line, message: textOf(row.refused), ...row.refused }] : []))
  const added = rows.filter(({ outcome }) => outcome === 'added').length
  const parked = rows.filter((one) => one.outcome === 'unmatched' && !one.isParked).length
  return {
    rows_read: read.length,
    added,
    unchanged: read.length - refused.length - added - parked,
    parked,
    rejected: refused.length,
    errors: refused.slice(0, MAX_STORED_ERRORS),
  }
}
