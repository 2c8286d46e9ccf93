// Reads one of the caller's collections, with the address under which it is shared.
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import { WithValue } from './records/fields.ts'
import { fetchCollection, type SharedRow } from './records/store.ts'
import type { CollectionReadCtx, OwnCollection, PricingCtx } from './records/types.ts'
import { SHARED_PATH } from './records/share-token.ts'
import { worthOf, worthResponse } from './worth.ts'

export const getCollection = verb(
  {
    name: 'getCollection',
    needs: OPERATION_PLAN.getCollection,
    secret: true,
    input: Type.Object({ id: id('collection'), with_value: WithValue }),
  },
  async (ctx: CollectionReadCtx, { id: collectionId, with_value: withValue }): Promise<OwnCollection> => {
    const collection = ownCollection(ctx, await fetchCollection(ctx.db.kysely, ctx.viewer, collectionId))
    return withValue ? { ...collection, worth: worthResponse(await worthOf(ctx, collectionId)) } : collection
  },
)

export function ownCollection({ catalogue }: Pick<PricingCtx, 'catalogue'>, { collection, token }: SharedRow): OwnCollection {
  return { ...collection, shared_url: token === null ? null : catalogue.addresses.ofPage(`${SHARED_PATH}${token}`) }
}
