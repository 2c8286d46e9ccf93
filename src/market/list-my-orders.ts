// The caller's own sales, a row for each order line, newest first.
import { PeriodFields, periodOf } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { localTime } from '#core/time.ts'
import { verb } from '#core/verb.ts'
import { pageOfOwnSales } from './own-sales-store.ts'
import { soldLine } from './sold-line.ts'
import type { MarketWriteCtx, OwnSale } from './types.ts'

export const listMyOrders = verb(
  {
    name: 'listMyOrders',
    needs: OPERATION_PLAN.listMyOrders,
    input: Type.Object(
      {
        order_id: Type.Optional(Type.Integer({ description: 'Only lines of this order' })),
        listing_id: Type.Optional(Type.Integer({ description: 'Only lines of this listing' })),
        ...PeriodFields,
        ...pageParams(),
      },
      { additionalProperties: false },
    ),
  },
  async ({ db, viewer, market }: Pick<MarketWriteCtx, 'db' | 'viewer' | 'market'>, { from, to, ...input }): Promise<Page<OwnSale>> => {
    const sellerId = viewer.kind === 'account' ? viewer.accountId : 0
    const period = periodOf({ from, to })
    const { rows, pagination } = await readPage(input, (filter, limit, offset) =>
      pageOfOwnSales(db.kysely, sellerId, { ...filter, ...period }, limit, offset),
    )
    const sales = rows.map((row) => ({
      ...soldLine(row),
      sold_at: localTime(row.sold_at, market.timeZone),
      cancelled_at: row.cancelled_at && localTime(row.cancelled_at, market.timeZone),
      refunded: Number(row.refunded),
    }))
    return { rows: sales, pagination }
  },
)
