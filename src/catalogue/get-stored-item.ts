// Returns one item as operators see it, with the prices of all markets.
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { closed } from './fields.ts'
import { fetchPricedItem, type StoredItemCtx } from './stored-items.ts'
import type { PricedItem } from './stored-schemas.ts'

export const getStoredItem = verb(
  { name: 'getStoredItem', needs: 'operator', input: Type.Object({ id: id('item') }, closed) },
  (ctx: StoredItemCtx, { id }): Promise<PricedItem> => fetchPricedItem(ctx, id),
)
