// Changes one of the caller's collections: its name and description, whether it is shared, and how its profit is computed.
import { invalid } from '#core/errors.ts'
import { id, name } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import type { CatalogueNode } from '#catalogue/context.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import { ownCollection } from './get-collection.ts'
import { COLLECTION_FIELDS } from './records/fields.ts'
import { fetchCollection, lockCollection, requireCollection, updateCollection as writeCollection } from './records/store.ts'
import { MethodSchema, type OwnCollection } from './records/types.ts'

const FIELDS = { name: Type.Optional(name('Name of the collection')), ...COLLECTION_FIELDS, method: Type.Optional(MethodSchema) }

export const updateCollection = writeVerb(
  {
    name: 'updateCollection',
    needs: OPERATION_PLAN.updateCollection,
    secret: true,
    input: Type.Object({ id: id('collection'), ...FIELDS }),
  },
  async (ctx: WriteCtx & CatalogueNode, { id: collectionId, ...values }): Promise<OwnCollection> => {
    if (Object.keys(values).length === 0) throw invalid('body', 'at_least_one', { fields: Object.keys(FIELDS) })
    if (values.name !== undefined) values.name = values.name.trim()
    return change(ctx, async (tx, note) => {
      await requireCollection(tx, ctx.viewer, collectionId)
      const before = await lockCollection(tx, collectionId)
      const after = await writeCollection(tx, before, values, ctx.now())
      // Without the link's token, which the audit log would keep readable.
      note.audit({ action: 'collection.change', subject: 'collection', id: before.id, before, after })
      return ownCollection(ctx, await fetchCollection(tx, ctx.viewer, collectionId))
    })
  },
)
