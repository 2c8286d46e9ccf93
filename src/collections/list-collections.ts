// The caller's collections with their record counts (interface.md, "GET /api/v1/plus/collections").
import { ServiceError } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { reason } from '#core/problems.ts'
import { verb } from '#core/verb.ts'
import { WithValue } from './records/fields.ts'
import { collectionsOf } from './records/store.ts'
import type { Collection, CollectionReadCtx } from './records/types.ts'
import { worthResponse, worthOf } from './worth.ts'

export const listCollections = verb(
  {
    name: 'listCollections',
    needs: OPERATION_PLAN.listCollections,
    input: Type.Object({ with_value: WithValue }),
  },
  async (ctx: CollectionReadCtx, { with_value: withValue }): Promise<Collection[]> => {
    if (ctx.viewer.kind !== 'account') throw new ServiceError('FORBIDDEN', reason('only_for', { who: 'accounts' }))
    const collections = await collectionsOf(ctx.db.kysely, ctx.viewer.accountId)
    if (!withValue) return collections
    const valuedOnes: Collection[] = []
    for (const collection of collections) valuedOnes.push({ ...collection, worth: worthResponse(await worthOf(ctx, collection.id)) })
    return valuedOnes
  },
)
