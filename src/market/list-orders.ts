// Orders with the current state of their lines, latest sale first unless the caller sorts them otherwise.
import { filter, PeriodFields, periodOf } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { namesOf, sortParams } from '#db/sorting.ts'
import { ORDER_SORTING, pageOfOrders } from './order-store.ts'
import type { StoredOrder } from './types.ts'

export const listOrders = verb(
  {
    name: 'listOrders',
    needs: 'operator',
    input: Type.Object(
      {
        seller_id: Type.Optional(Type.Integer({ description: 'Only orders with a line of this seller' })),
        item_id: Type.Optional(Type.Integer({ description: 'Only orders with a line of this item' })),
        listing_id: Type.Optional(Type.Integer({ description: 'Only orders with a line of this listing' })),
        buyer_reference: filter('Reference of the buyer, as recorded by the shop'),
        ...PeriodFields,
        ...sortParams(namesOf(ORDER_SORTING)),
        ...pageParams(),
      },
      { additionalProperties: false },
    ),
  },
  async (ctx: ReadCtx, { from, to, ...input }): Promise<Page<StoredOrder>> => {
    const period = periodOf({ from, to })
    return readPage(input, (wanted, limit, offset) => pageOfOrders(ctx.db.kysely, { ...wanted, ...period }, limit, offset))
  },
)
