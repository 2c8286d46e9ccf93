// Records copies that were sold or given away, and removes a disposal that was entered wrongly.
import { conflict } from '#core/errors.ts'
import { id, idForSql, missing } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { MAX_AMOUNT, minorToText } from '#core/money.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { requireCurrent } from '#core/precondition.ts'
import { reason } from '#core/problems.ts'
import { change } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import type { Tx } from '#db/schema.ts'
import { changeCopies } from '../records/copies.ts'
import { money } from '../records/fields.ts'
import { lockRecord, tagOf } from '../records/store.ts'
import { disposalResponse, readFigures } from './list-lots.ts'
import { currencyOrOwn, dayOrToday, minorsOf, MOST_OF_RECORD, pastDay, SharedFields } from './lot-fields.ts'
import type { Disposal, LotWriteCtx } from './lot-types.ts'

/** A disposal, and the entity tag of its record. */
export interface AddedDisposal {
  disposal: Disposal
  tag: string
}

export const addCollectionDisposal = writeVerb(
  {
    name: 'addCollectionDisposal',
    needs: OPERATION_PLAN.addCollectionDisposal,
    input: Type.Object({
      id: id('collection'),
      itemId: id('record'),
      ...SharedFields,
      at: pastDay('Day of the disposal'),
      gross: Type.Number({
        minimum: 0,
        maximum: MAX_AMOUNT,
        allowed: reason('number', { min: 0, max: MAX_AMOUNT, decimals: 2 }),
        description: 'Received for all copies, before fees and shipping; 0 if they were given away',
      }),
      shipping: money('Shipping paid for all copies; default: 0'),
    }),
  },
  (ctx: LotWriteCtx, { id: collectionId, itemId: recordId, ...fields }): Promise<AddedDisposal> => {
    const { quantity = 1 } = fields
    const minors = minorsOf({ gross: fields.gross, fees: fields.fees, shipping: fields.shipping })
    const at = dayOrToday(ctx, 'at', fields.at)
    const currency = currencyOrOwn(ctx, fields.currency)
    return change(ctx, async (tx, note) => {
      const locked = await lockRecord(tx, ctx.viewer, collectionId, recordId)
      requireCurrent(ctx, tagOf(locked))
      await requireRoom(tx, recordId)
      const tag = await changeCopies(tx, locked, -quantity, ctx.now())
      const amounts = { gross: minorToText(minors.gross ?? 0), fees: minorToText(minors.fees ?? 0), shipping: minorToText(minors.shipping ?? 0) }
      const values = { record_id: recordId, at, quantity, ...amounts, currency, created_at: ctx.now() }
      const row = await tx.insertInto('collection_disposals').values(values).returning('id').executeTakeFirstOrThrow()
      const { record_id: _record, created_at: _at, ...after } = values
      note.audit({ action: 'collection_item.add_disposal', subject: 'collection_item', id: recordId, after: { disposal: row.id, ...after } })
      const { disposals } = await readFigures(tx, ctx, collectionId, recordId, 'TRY')
      return { disposal: disposalResponse(disposals.find(({ flow }) => flow.id === row.id)!, 'TRY'), tag }
    })
  },
)

/** Disposals of orders do not count: nobody may keep a sale from being recorded. */
async function requireRoom(tx: Tx, recordId: number): Promise<void> {
  const own = tx.selectFrom('collection_disposals').select('id').where('record_id', '=', recordId).where('order_id', 'is', null)
  if ((await own.limit(MOST_OF_RECORD).execute()).length >= MOST_OF_RECORD) throw conflict('lots_full', { max: MOST_OF_RECORD })
}

export const removeCollectionDisposal = writeVerb(
  {
    name: 'removeCollectionDisposal',
    needs: OPERATION_PLAN.removeCollectionDisposal,
    input: Type.Object({ id: id('collection'), itemId: id('record'), disposalId: id('disposal') }),
  },
  (ctx: LotWriteCtx, { id: collectionId, itemId: recordId, disposalId }): Promise<string> =>
    change(ctx, async (tx, note) => {
      const locked = await lockRecord(tx, ctx.viewer, collectionId, recordId)
      requireCurrent(ctx, tagOf(locked))
      const ofRecord = tx.selectFrom('collection_disposals').where('record_id', '=', recordId).where('id', '=', idForSql(disposalId))
      const disposal = await ofRecord.select(['id', 'at', 'quantity', 'gross', 'fees', 'shipping', 'currency', 'order_id']).executeTakeFirst()
      if (!disposal) throw missing('disposal', disposalId)
      const { order_id: order, id: _id, ...before } = disposal
      if (order !== null) throw conflict('of_order', { thing: 'disposal', id: disposalId, order })
      const tag = await changeCopies(tx, locked, disposal.quantity, ctx.now())
      await tx.deleteFrom('collection_disposals').where('id', '=', disposal.id).execute()
      note.audit({
        action: 'collection_item.remove_disposal',
        subject: 'collection_item',
        id: recordId,
        before: { disposal: disposal.id, ...before },
      })
      return tag
    }),
)
