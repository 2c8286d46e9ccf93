// Changes the name, description or visibility of a collection.
import { invalid } from '#core/errors.ts'
import { id, name } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import { COLLECTION_FIELDS } from './records/fields.ts'
import { lockCollection, updateCollection } from './records/store.ts'
import type { StoredCollection } from './records/types.ts'

export const changeCollection = verb(
  {
    name: 'changeCollection',
    needs: 'support',
    input: Type.Object({ id: id('collection'), name: Type.Optional(name('Name of the collection')), ...COLLECTION_FIELDS }),
  },
  (ctx: WriteCtx, { id: collectionId, ...values }): Promise<StoredCollection> =>
    change(ctx, async (tx, note) => {
      if (Object.keys(values).length === 0) {
        throw invalid('body', 'at_least_one', { fields: ['name', 'description', 'visibility'] })
      }
      if (values.name !== undefined) values.name = values.name.trim()
      const before = await lockCollection(tx, collectionId)
      const after = await updateCollection(tx, before, values, ctx.now())
      note.audit({ action: 'collection.change', subject: 'collection', id: before.id, before, after })
      return after
    }),
)
