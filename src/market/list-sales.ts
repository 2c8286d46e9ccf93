// Lists sales with their sellers, newest first; operators only.
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { pageOfLineSales } from './order-store.ts'
import type { StoredSale } from './types.ts'

export const listSales = verb(
  {
    name: 'listSales',
    needs: 'operator',
    input: Type.Object(
      {
        seller_id: Type.Optional(Type.Integer()),
        item_id: Type.Optional(Type.Integer()),
        listing_id: Type.Optional(Type.Integer()),
        ...pageParams(),
      },
      { additionalProperties: false },
    ),
  },
  (ctx: ReadCtx, input): Promise<Page<StoredSale>> =>
    readPage(input, (filter, limit, offset) => pageOfLineSales(ctx.db.kysely, filter, limit, offset)),
)
