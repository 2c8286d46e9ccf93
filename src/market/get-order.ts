// Reads an order with the current state of its lines.
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { fetchStoredOrder } from './order-store.ts'
import type { StoredOrder } from './types.ts'

export const getOrder = verb(
  {
    name: 'getOrder',
    needs: 'operator',
    input: Type.Object({ order_id: Type.Integer({ description: 'Order id assigned by the shop' }) }, { additionalProperties: false }),
  },
  (ctx: ReadCtx, { order_id: orderId }): Promise<StoredOrder> => fetchStoredOrder(ctx.db.kysely, orderId),
)
