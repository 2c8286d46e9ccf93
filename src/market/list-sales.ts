// Sales with who sold what, newest first: for operators only.
import { type Static, Type } from '#core/input.ts'
import { type Page, pageParams, pagination } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { pageOfLineSales } from './order-store.ts'

export const StoredSaleSchema = Type.Object(
  {
    id: Type.Integer(),
    order_id: Type.Integer(),
    listing_id: Type.Union([Type.Integer(), Type.Null()], { description: 'null when the listing was deleted' }),
    seller_id: Type.Integer(),
    item_id: Type.Integer(),
    item_name: Type.String(),
    label: Type.String({ description: 'Condition or grade', examples: ['Near Mint'] }),
    quantity: Type.Integer(),
    unit_price: Type.Number({ description: 'TRY' }),
    seller_payout: Type.Number({ description: 'TRY, of all units' }),
    sold_at: Type.String({ format: 'date-time', description: 'UTC' }),
  },
  { title: 'StoredSale' },
)
export type StoredSale = Static<typeof StoredSaleSchema>

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
