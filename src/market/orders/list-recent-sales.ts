// Lists the latest sales of the marketplace, without any seller data (interface.md, "GET /api/v1/plus/recent-sales").
import { filter } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { localTime } from '#core/time.ts'
import { liveItem } from '#db/live-item.ts'
import { pageOf } from '#db/page.ts'
import type { MarketWriteCtx } from '../marketplace-types.ts'

export const listRecentSales = listVerb(
  {
    name: 'listRecentSales',
    needs: OPERATION_PLAN.listRecentSales,
    filters: {
      game: filter('Such as `pokemon`; an unknown game returns an empty page'),
      item_id: Type.Optional(Type.Integer({ description: 'Only sales of this item' })),
    },
  },
  ({ db, market }: Pick<MarketWriteCtx, 'db' | 'viewer' | 'market'>, { game, item_id: itemId }, range) => {
    let sales = db.kysely.selectFrom('uncancelled_sales as s').innerJoin('items as i', 'i.id', 's.item_id')
    if (game !== undefined) sales = sales.where('i.game', '=', game)
    if (itemId !== undefined) sales = sales.where('s.item_id', '=', liveItem(itemId))
    const shown = sales.select(['s.unit_price', 's.sold_at', 'i.id', 'i.name', 'i.code', 'i.slug'])
    return pageOf(shown.orderBy('s.sold_at', 'desc').orderBy('s.id', 'desc'), range, ({ unit_price: price, sold_at: soldAt, ...item }) => ({
      item,
      price: Number(price),
      sold_at: localTime(soldAt, market.timeZone),
    }))
  },
)
