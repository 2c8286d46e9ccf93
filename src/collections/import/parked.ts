// Parked rows of imported files: list them, add them to the collection, or discard them.
import { conflict, invalid, ServiceError } from '#core/errors.ts'
import { existing, id, missing, orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import { actorOf, change, type ReadCtx, type WriteCtx } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import { CandidateFields, parkedPage } from '#intake/parked.ts'
import { addRecords } from '../records/insert-records.ts'
import { recordOf as shownRecord, requireCollection } from '../records/store.ts'
import type { CollectionRecord } from '../records/types.ts'
import type { CollectionEntry } from './entries.ts'
import { recordOf } from './write-records.ts'

export const ParkedRowSchema = Type.Object(
  {
    id: Type.Integer(),
    collection_id: Type.Integer(),
    format: Type.String(),
    line: Type.Integer({ description: 'Line number in the file' }),
    reason: Type.String(),
    rule: orNull(Type.String({ description: 'Machine-readable reason; null for rows parked by earlier versions' })),
    params: orNull(Type.Record(Type.String(), Type.Unknown())),
    name: Type.String(),
    number: orNull(Type.String()),
    set: orNull(Type.String()),
    finish: orNull(Type.String()),
    label: orNull(Type.String()),
    quantity: Type.Integer(),
    candidates: Type.Array(Type.Object(CandidateFields), { description: 'Best match first' }),
    parked_at: Type.String({ format: 'date-time' }),
  },
  { title: 'ParkedRow' },
)
export type ParkedRow = Static<typeof ParkedRowSchema>

export const listParkedRows = listVerb(
  { name: 'listParkedRows', needs: 'operator', filters: { id: id('collection') } },
  async ({ db, viewer }: ReadCtx, { id: collectionId }, range) => {
    const on = db.kysely
    await requireCollection(on, viewer, collectionId)
    const parked = on
      .selectFrom('collection_parked_rows')
      .where('collection_id', '=', collectionId)
      .where('decision', 'is', null)
      .leftJoin('parked_row_reasons as r', 'r.parked_row_id', 'id')
      .select(['id', 'collection_id', 'format', 'line', 'reason', 'r.rule', 'r.params', 'entry', 'candidates', 'parked_at'])
      .orderBy('id')
    return parkedPage(on, parked, range, ({ entry, candidates, parked_at, ...row }): ParkedRow => {
      const { item, label, quantity } = entry as CollectionEntry
      const { name, number, set, finish } = item
      return { ...row, name, number, set, finish, label, quantity, candidates, parked_at: parked_at.toISOString() }
    })
  },
)

const Decided = { id: id('collection'), row_id: id('parked row') }

export const placeParkedRow = verb(
  {
    name: 'placeParkedRow',
    needs: 'support',
    input: Type.Object({
      ...Decided,
      item_id: Type.Integer({ description: 'Item to use for the row' }),
      grade_id: Type.Optional(Type.Integer({ description: "Grade allowed for the item, instead of the row's" })),
    }),
  },
  (ctx: WriteCtx, { id: collectionId, row_id: rowId, item_id: itemId, grade_id: given }): Promise<CollectionRecord> =>
    change(ctx, async (tx, note) => {
      const row = await decide(tx, ctx, collectionId, rowId, 'placed')
      const entry = row.entry as CollectionEntry
      const gradeId = given ?? (await gradeOf(tx, entry.label))
      const record = recordOf(collectionId, entry, existing('item', itemId), gradeId === null ? null : existing('grade', gradeId), row.import_key)
      const [added] = await addRecords(tx, [{ input: { record, asked: { itemId, gradeId } }, note }])
      if (added instanceof ServiceError) throw added
      return shownRecord(added!)
    }),
)

export const discardParkedRow = verb(
  { name: 'discardParkedRow', needs: 'support', input: Type.Object(Decided) },
  (ctx: WriteCtx, { id: collectionId, row_id: rowId }): Promise<void> =>
    change(ctx, async (tx, note) => {
      const row = await decide(tx, ctx, collectionId, rowId, 'discarded')
      note.audit({
        action: 'collection_parked_row.discard',
        subject: 'collection_parked_row',
        id: row.id,
        before: { ...row.entry, line: row.line },
      })
    }),
)

/** Marks a parked row as done; it is kept, because the file may be imported again. @throws NOT_FOUND, CONFLICT */
async function decide(tx: Tx, ctx: WriteCtx, collectionId: number, rowId: number, decision: 'placed' | 'discarded') {
  const row = await tx
    .selectFrom('collection_parked_rows')
    .select(['id', 'line', 'entry', 'import_key', 'decision'])
    .where('id', '=', existing('parked row', rowId))
    .where('collection_id', '=', existing('collection', collectionId))
    .forUpdate()
    .executeTakeFirst()
  if (!row) throw missing('parked row', rowId)
  if (row.decision) throw conflict('already', { thing: 'parked row', state: row.decision })
  await tx
    .updateTable('collection_parked_rows')
    .set({ decision, decided_by: actorOf(ctx.viewer), decided_at: ctx.now() })
    .where('id', '=', row.id)
    .execute()
  return row
}

async function gradeOf(tx: Tx, label: string | null): Promise<number | null> {
  if (label === null) return null
  const grade = await tx.selectFrom('groups').select('id').where('name', '=', label).where('parent_id', 'is not', null).executeTakeFirst()
  if (!grade) throw invalid('grade_id', 'needs_grade', { name: label })
  return grade.id
}
