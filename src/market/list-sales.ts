// Sales with who sold what, newest first: for operators only.
import { Type } from '#core/input.ts'
import { type Page, pageParams, pagination } from '#core/paging.ts'
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
        ...pageParams(20),
      },
      { additionalProperties: false },
    ),
  },
  async (ctx: ReadCtx, { page = 1, per_page: perPage = 20, ...filter }): Promise<Page<StoredSale>> => {
    const { rows, total } = await pageOfLineSales(ctx.db.kysely, filter, perPage, (page - 1) * perPage)
    return { rows, pagination: pagination(page, perPage, total) }
  },
)
