// Deletes a collection with all its records.
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import { lockCollection } from './records/store.ts'

export const deleteCollection = verb(
  { name: 'deleteCollection', needs: 'support', input: Type.Object({ id: id('collection') }) },
  (ctx: WriteCtx, { id: collectionId }): Promise<void> =>
    change(ctx, async (tx, note) => {
      const before = await lockCollection(tx, collectionId)
      await tx.deleteFrom('collections').where('id', '=', before.id).execute()
      note.audit({ action: 'collection.delete', subject: 'collection', id: before.id, before })
    }),
)
