// The caller's own sales, a row for each order line, newest first.
import { sql } from 'kysely'
import { idForSql, PeriodFields, periodOf } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { localTime } from '#core/time.ts'
import { countIn, where } from '#db/page.ts'
import { AMOUNT, LINE, type LineRow, NAMES } from './own-sales-store.ts'
import { soldLine } from './sold-line.ts'
import type { MarketWriteCtx } from '../marketplace-types.ts'

type OwnSaleRow = LineRow & { sold_at: Date; cancelled_at: Date | null; refunded: string }

export const listMyOrders = listVerb(
  {
    name: 'listMyOrders',
    needs: OPERATION_PLAN.listMyOrders,
    filters: {
      order_id: Type.Optional(Type.Integer({ description: 'Only lines of this order' })),
      listing_id: Type.Optional(Type.Integer({ description: 'Only lines of this listing' })),
      ...PeriodFields,
    },
  },
  async (ctx: Pick<MarketWriteCtx, 'db' | 'viewer' | 'market'>, { order_id: orderId, listing_id: listingId, ...period }, { limit, offset }) => {
    const { db, viewer, market } = ctx
    const { from, to } = periodOf(period)
    const matching = sql`from sales s ${where(
      sql`s.seller_id = ${viewer.kind === 'account' ? viewer.accountId : 0}`,
      from !== undefined && sql`s.sold_at >= ${from}`,
      to !== undefined && sql`s.sold_at < ${to}`,
      listingId !== undefined && sql`s.listing_id = ${idForSql(listingId)}`,
      orderId !== undefined && sql`s.order_id = ${Number.isSafeInteger(orderId) ? orderId : 0}`,
    )}`
    const [{ rows }, total] = await Promise.all([
      sql<OwnSaleRow>`
        select ${LINE}, ${AMOUNT} - s.payout as commission, s.payout, s.sold_at, c.cancelled_at,
          case when c.sale_id is null then 0 else ${AMOUNT} end as refunded
        from (select s.* ${matching} order by s.sold_at desc, s.id desc limit ${limit} offset ${offset}) s
        ${NAMES} left join sale_cancellations c on c.sale_id = s.id order by s.sold_at desc, s.id desc`.execute(db.kysely),
      countIn(db.kysely, matching),
    ])
    const sales = rows.map((row) => ({
      ...soldLine(row),
      sold_at: localTime(row.sold_at, market.timeZone),
      cancelled_at: row.cancelled_at && localTime(row.cancelled_at, market.timeZone),
      refunded: Number(row.refunded),
    }))
    return { rows: sales, total }
  },
)
