// One item as operators see it, with the prices of all markets.
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { closed } from './fields.ts'
import { fetchPricedItem } from './stored-items.ts'
import type { PricedItem } from './stored-schemas.ts'

export const getStoredItem = verb(
  { name: 'getStoredItem', needs: 'operator', input: Type.Object({ id: id('item') }, closed) },
  (ctx: ReadCtx, { id }): Promise<PricedItem> => fetchPricedItem(ctx.db.kysely, id),
)
