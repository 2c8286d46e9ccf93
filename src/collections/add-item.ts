// Adds a record to a collection (interface.md, "POST /api/v1/plus/collections/{id}/items").
import { checkCopies } from '#catalogue/certificates/certificate.ts'
import { ServiceError } from '#core/errors.ts'
import { existing, id, idForSql, orNull } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { groupedChange } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import { checkForTrade, CLEARABLE_FIELDS, forTrade, quantity, valuesOf } from './records/fields.ts'
import { type Addition, addRecords, type NewRecord } from './records/insert-records.ts'
import { ownerOf, taggedRecord } from './records/store.ts'
import type { RecordWriteCtx, TaggedRecord } from './records/types.ts'

const GradeId = Type.Integer({
  description: 'Condition or grade allowed for the item; default: Ungraded, otherwise the first allowed one',
})

const addRecord = groupedChange<RecordWriteCtx, Addition, TaggedRecord>(
  ({ record }) => record.collectionId,
  async (tx, writes) => (await addRecords(tx, writes)).map((added) => (added instanceof ServiceError ? added : taggedRecord(added))),
)

export const addCollectionItem = writeVerb(
  {
    name: 'addCollectionItem',
    needs: OPERATION_PLAN.addCollectionItem,
    input: Type.Object({
      id: id('collection'),
      item_id: Type.Integer({ description: 'Item in the catalogue', examples: [1] }),
      item_group_type_id: Type.Optional(orNull(GradeId)),
      quantity: quantity(1),
      for_trade: forTrade(0),
      ...CLEARABLE_FIELDS,
    }),
  },
  (ctx: RecordWriteCtx, input): Promise<TaggedRecord> => {
    const asked = { itemId: input.item_id, gradeId: input.item_group_type_id ?? null }
    checkForTrade(input.for_trade, input.quantity ?? 1)
    const { purchaseMinor = null, saleMinor = null, purchaseDate = null, cardUniqId = null, note = null, certificate = null } = valuesOf(input)
    checkCopies(input.quantity ?? 1, certificate)
    // Checks access to the collection before it reports unknown ids.
    const record: NewRecord = {
      collectionId: existing('collection', input.id),
      ownerId: ownerOf(ctx.viewer),
      itemId: idForSql(asked.itemId),
      gradeId: asked.gradeId === null ? null : idForSql(asked.gradeId),
      quantity: input.quantity ?? 1,
      purchaseMinor,
      saleMinor,
      purchaseDate,
      cardUniqId,
      note,
      forTrade: input.for_trade,
      certificate,
      importKey: null,
    }
    return addRecord(ctx, { record, asked })
  },
)
