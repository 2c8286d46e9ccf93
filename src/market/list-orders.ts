// Orders as they were answered, latest sale first.
import { PeriodFields, periodOf } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Page, pageParams, pagination } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { pageOfOrders } from './order-store.ts'
import type { Order } from './types.ts'

export const listOrders = verb(
  {
    name: 'listOrders',
    needs: 'operator',
    input: Type.Object(
      {
        seller_id: Type.Optional(Type.Integer({ description: 'With a line of this seller' })),
        item_id: Type.Optional(Type.Integer({ description: 'With a line of this item' })),
        listing_id: Type.Optional(Type.Integer({ description: 'With a line of this listing' })),
        ...PeriodFields,
        ...pageParams(20),
      },
      { additionalProperties: false },
    ),
  },
  async (ctx: ReadCtx, { from, to, page = 1, per_page: perPage = 20, ...filter }): Promise<Page<Order>> => {
    const { rows, total } = await pageOfOrders(ctx.db.kysely, { ...filter, ...periodOf({ from, to }) }, perPage, (page - 1) * perPage)
    return { rows, pagination: pagination(page, perPage, total) }
  },
)
