// Lists the latest sales of the marketplace, without any seller data (interface.md, "GET /api/v1/plus/recent-sales").
import { filter } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { localTime } from '#core/time.ts'
import { verb } from '#core/verb.ts'
import { pageOfSales } from './order-store.ts'
import type { MarketWriteCtx, RecentSale } from './types.ts'

export const listRecentSales = verb(
  {
    name: 'listRecentSales',
    needs: OPERATION_PLAN.listRecentSales,
    input: Type.Object(
      {
        game: filter('Such as `pokemon`; an unknown game returns an empty page'),
        item_id: Type.Optional(Type.Integer({ description: 'Only sales of this item' })),
        ...pageParams(),
      },
      { additionalProperties: false },
    ),
  },
  async (ctx: Pick<MarketWriteCtx, 'db' | 'viewer' | 'market'>, input): Promise<Page<RecentSale>> => {
    const { rows, pagination } = await readPage(input, (filter, limit, offset) => pageOfSales(ctx.db.kysely, filter, limit, offset))
    const sales = rows.map(({ unit_price: price, sold_at: soldAt, ...item }) => ({
      item,
      price: Number(price),
      sold_at: localTime(soldAt, ctx.market.timeZone),
    }))
    return { rows: sales, pagination }
  },
)
