// An order as it was answered when it was recorded.
import { Type } from '#core/input.ts'
import { missing } from '#core/fields.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { fetchOrder } from './order-store.ts'
import type { Order } from './types.ts'

export const getOrder = verb(
  {
    name: 'getOrder',
    needs: 'operator',
    input: Type.Object({ order_id: Type.Integer({ description: "The shop's own id of the order" }) }, { additionalProperties: false }),
  },
  async (ctx: ReadCtx, { order_id: orderId }): Promise<Order> => {
    if (!Number.isSafeInteger(orderId)) throw missing('order', orderId)
    return (await fetchOrder(ctx.db.kysely, orderId)).order
  },
)
