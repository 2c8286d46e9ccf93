// One listing as operators see it.
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import type { WriteCtx } from '#db/change.ts'
import { fetchListing, storedListing } from './store.ts'
import type { StoredListing } from './types.ts'

export const getStoredListing = verb(
  { name: 'getStoredListing', needs: 'operator', input: Type.Object({ id: id('listing') }, { additionalProperties: false }) },
  async (ctx: Pick<WriteCtx, 'db' | 'viewer' | 'now'>, { id }): Promise<StoredListing> =>
    storedListing(await fetchListing(ctx.db.kysely, id), ctx.now()),
)
