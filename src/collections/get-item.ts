// Reads one record, with the entity tag needed to change it.
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/changes/change.ts'
import { fetchRecord, taggedRecord } from './records/store.ts'
import type { TaggedRecord } from './records/types.ts'

export const getCollectionItem = verb(
  {
    name: 'getCollectionItem',
    needs: OPERATION_PLAN.getCollectionItem,
    input: Type.Object({ id: id('collection'), itemId: id('record') }),
  },
  async (ctx: ReadCtx, { id: collectionId, itemId: recordId }): Promise<TaggedRecord> =>
    taggedRecord(await fetchRecord(ctx.db.kysely, ctx.viewer, collectionId, recordId)),
)
