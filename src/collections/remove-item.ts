// Removes a record (interface.md, "DELETE /api/v1/plus/collections/{id}/items/{itemId}").
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { requireCurrent } from '#core/precondition.ts'
import { change } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import { deleteRecord, lockRecord, recordOf, tagOf } from './records/store.ts'
import type { RecordWriteCtx } from './records/types.ts'

export const removeCollectionItem = writeVerb(
  {
    name: 'removeCollectionItem',
    needs: OPERATION_PLAN.removeCollectionItem,
    input: Type.Object({ id: id('collection'), itemId: id('record') }),
  },
  (ctx: RecordWriteCtx, { id: collectionId, itemId: recordId }): Promise<void> =>
    change(ctx, async (tx, note) => {
      const locked = await lockRecord(tx, ctx.viewer, collectionId, recordId)
      requireCurrent(ctx, tagOf(locked))
      await deleteRecord(tx, collectionId, recordId)
      note.audit({
        action: 'collection_item.remove',
        subject: 'collection_item',
        id: recordId,
        before: recordOf(locked),
      })
    }),
)
