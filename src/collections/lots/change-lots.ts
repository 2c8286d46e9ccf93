// Adds a lot to a record, and removes one that was entered wrongly.
import { conflict } from '#core/errors.ts'
import { id, missing, idForSql } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { minorToText } from '#core/money.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { requireCurrent } from '#core/precondition.ts'
import { change } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import type { Tx } from '#db/schema.ts'
import { changeCopies } from '../records/copies.ts'
import { money } from '../records/fields.ts'
import { decimalOf, lockRecord, tagOf } from '../records/store.ts'
import { lotResponse, readFigures } from './list-lots.ts'
import { currencyOrOwn, dayOrToday, minorsOf, MOST_OF_RECORD, pastDay, SharedFields } from './lot-fields.ts'
import type { Lot, LotWriteCtx } from './lot-types.ts'
import { LOT_SOURCES } from './stored-history.ts'

/** A lot, and the entity tag of its record. */
export interface AddedLot {
  lot: Lot
  tag: string
}

export const addCollectionLot = writeVerb(
  {
    name: 'addCollectionLot',
    needs: OPERATION_PLAN.addCollectionLot,
    input: Type.Object({
      id: id('collection'),
      itemId: id('record'),
      ...SharedFields,
      acquired_at: pastDay('Day of purchase'),
      unit_cost: money('Price paid per copy; without it the cost is unknown, or 0 for `pulled` and `gift`'),
      source: Type.Optional(
        Type.Enum(
          LOT_SOURCES.filter((source) => source !== 'order'),
          { default: 'bought', description: 'How the copies were acquired' },
        ),
      ),
    }),
  },
  (ctx: LotWriteCtx, { id: collectionId, itemId: recordId, ...fields }): Promise<AddedLot> => {
    const { quantity = 1, source = 'bought' } = fields
    const minors = minorsOf({ unit_cost: fields.unit_cost, fees: fields.fees })
    const acquired_at = dayOrToday(ctx, 'acquired_at', fields.acquired_at)
    const currency = currencyOrOwn(ctx, fields.currency)
    return change(ctx, async (tx, note) => {
      const locked = await lockRecord(tx, ctx.viewer, collectionId, recordId)
      requireCurrent(ctx, tagOf(locked))
      await requireRoom(tx, recordId)
      const tag = await changeCopies(tx, locked, quantity, ctx.now())
      const values = {
        record_id: recordId,
        acquired_at,
        quantity,
        unit_cost: decimalOf(minors.unit_cost),
        fees: minorToText(minors.fees ?? 0),
        currency,
        source,
        created_at: ctx.now(),
      }
      const row = await tx.insertInto('collection_lots').values(values).returning('id').executeTakeFirstOrThrow()
      const { record_id: _record, created_at: _at, ...after } = values
      note.audit({ action: 'collection_item.add_lot', subject: 'collection_item', id: recordId, after: { lot: row.id, ...after } })
      const { lots } = await readFigures(tx, ctx, collectionId, recordId, 'TRY')
      return { lot: lotResponse(lots.find(({ flow }) => flow.id === row.id)!, 'TRY'), tag }
    })
  },
)

async function requireRoom(tx: Tx, recordId: number): Promise<void> {
  const lots = await tx.selectFrom('collection_lots').select('id').where('record_id', '=', recordId).limit(MOST_OF_RECORD).execute()
  if (lots.length >= MOST_OF_RECORD) throw conflict('lots_full', { max: MOST_OF_RECORD })
}

export const removeCollectionLot = writeVerb(
  {
    name: 'removeCollectionLot',
    needs: OPERATION_PLAN.removeCollectionLot,
    input: Type.Object({ id: id('collection'), itemId: id('record'), lotId: id('lot') }),
  },
  (ctx: LotWriteCtx, { id: collectionId, itemId: recordId, lotId }): Promise<string> =>
    change(ctx, async (tx, note) => {
      const locked = await lockRecord(tx, ctx.viewer, collectionId, recordId)
      requireCurrent(ctx, tagOf(locked))
      const ofRecord = tx.selectFrom('collection_lots').where('record_id', '=', recordId).where('id', '=', idForSql(lotId))
      const lot = await ofRecord.select(['id', 'acquired_at', 'quantity', 'unit_cost', 'fees', 'currency', 'source']).executeTakeFirst()
      if (!lot) throw missing('lot', lotId)
      const tag = await changeCopies(tx, locked, -lot.quantity, ctx.now())
      await tx.deleteFrom('collection_lots').where('id', '=', lot.id).execute()
      const { id: _id, ...before } = lot
      note.audit({ action: 'collection_item.remove_lot', subject: 'collection_item', id: recordId, before: { lot: lot.id, ...before } })
      return tag
    }),
)
