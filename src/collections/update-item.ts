// Changes those fields of a record that the request contains (interface.md, "PATCH /api/v1/plus/collections/{id}/items/{itemId}").
import { checkCopies } from '#catalogue/certificates/certificate.ts'
import { invalid } from '#core/errors.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { requireCurrent } from '#core/precondition.ts'
import { change } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import { requireCopiesOfLots } from './records/copies.ts'
import { checkForTrade, CLEARABLE_FIELDS, forTrade, quantity, valuesOf } from './records/fields.ts'
import { lockRecord, recordOf, tagOf, taggedRecord, updateRecord } from './records/store.ts'
import type { RecordWriteCtx, TaggedRecord } from './records/types.ts'

const FIELDS = { quantity: quantity(), for_trade: forTrade(), ...CLEARABLE_FIELDS }

/** The current record, and which of its fields were sent. */
export interface ChangedRecord extends TaggedRecord {
  changed: (keyof typeof FIELDS)[]
}

export const updateCollectionItem = writeVerb(
  {
    name: 'updateCollectionItem',
    needs: OPERATION_PLAN.updateCollectionItem,
    input: Type.Object({ id: id('collection'), itemId: id('record'), ...FIELDS }),
  },
  async (ctx: RecordWriteCtx, { id: collectionId, itemId: recordId, ...fields }): Promise<ChangedRecord> => {
    const changed = Object.keys(fields) as ChangedRecord['changed']
    if (changed.length === 0) {
      throw invalid('body', 'at_least_one', { fields: Object.keys(FIELDS) })
    }
    const changes = { quantity: fields.quantity, forTrade: fields.for_trade, ...valuesOf(fields) }
    return change(ctx, async (tx, note) => {
      const locked = await lockRecord(tx, ctx.viewer, collectionId, recordId)
      requireCurrent(ctx, tagOf(locked))
      checkForTrade(fields.for_trade, fields.quantity ?? locked.quantity)
      if (fields.quantity !== undefined) await requireCopiesOfLots(tx, recordId, fields.quantity)
      checkCopies(changes.quantity ?? locked.quantity, changes.certificate === undefined ? locked.certificate : changes.certificate)
      const after = taggedRecord(await updateRecord(tx, locked, changes, ctx.now()))
      const before = recordOf(locked)
      note.audit({
        action: 'collection_item.change',
        subject: 'collection_item',
        id: locked.id,
        before,
        after: after.record,
      })
      return { ...after, changed }
    })
  },
)
