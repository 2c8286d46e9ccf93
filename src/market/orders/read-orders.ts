// Reads orders with the current state of their lines, and the sales that these lines are.
import { type SelectQueryBuilder, sql } from 'kysely'
import { filter, idForSql, PeriodFields, periodOf } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/changes/change.ts'
import { liveItem } from '#db/live-item.ts'
import { countOf, inRange } from '#db/page.ts'
import type { Schema } from '#db/schema.ts'
import { namesOf, orderBy, type Sorting, sortParams } from '#db/sorting.ts'
import { asAnswered, fetchStoredOrder, withSales } from './order-store.ts'
import type { Order, StoredOrder } from '../sale-schemas.ts'

const orderId = sql.ref('o.order_id')
const soldAt = sql.ref('o.sold_at')
const SORTING = { by: { sold_at: soldAt, order_id: orderId }, id: orderId, usual: { by: soldAt, direction: 'desc' } } satisfies Sorting<string>

/** Orders with the current state of their lines, latest sale first unless the caller sorts them otherwise. */
export const listOrders = listVerb(
  {
    name: 'listOrders',
    needs: 'operator',
    filters: {
      seller_id: Type.Optional(Type.Integer({ description: 'Only orders with a line of this seller' })),
      item_id: Type.Optional(Type.Integer({ description: 'Only orders with a line of this item' })),
      listing_id: Type.Optional(Type.Integer({ description: 'Only orders with a line of this listing' })),
      buyer_reference: filter('Reference of the buyer, as recorded by the shop'),
      ...PeriodFields,
      ...sortParams(namesOf(SORTING)),
    },
  },
  async ({ db }: ReadCtx, { from, to, buyer_reference: buyer, sort_by, sort_order, ...ofLine }, range) => {
    const period = periodOf({ from, to })
    let matching = db.kysely.selectFrom('orders as o')
    if (period.from) matching = matching.where('o.sold_at', '>=', period.from)
    if (period.to) matching = matching.where('o.sold_at', '<', period.to)
    if (buyer !== undefined)
      matching = matching.where('o.order_id', 'in', (e) => e.selectFrom('order_buyers').select('order_id').where('reference', '=', buyer))
    if (Object.keys(ofLine).length > 0)
      matching = matching.where('o.order_id', 'in', (e) => linesOf(e.selectFrom('sales as s'), ofLine).select('s.order_id'))
    const orders = matching.select('o.result').orderBy(orderBy(SORTING, { sort_by, sort_order }))
    const [rows, total] = await Promise.all([inRange(orders, range).execute(), countOf(matching)])
    const answers = rows.map((row) => asAnswered(row.result as Order))
    return { rows: await withSales(db.kysely, answers), total }
  },
)

/** Lists sales with their sellers, newest first; operators only. */
export const listSales = listVerb(
  {
    name: 'listSales',
    needs: 'operator',
    filters: {
      seller_id: Type.Optional(Type.Integer()),
      item_id: Type.Optional(Type.Integer()),
      listing_id: Type.Optional(Type.Integer()),
    },
  },
  async ({ db }: ReadCtx, ofLine, range) => {
    const matching = linesOf(db.kysely.selectFrom('sales as s'), ofLine)
    const sales = matching
      .innerJoin('items as i', 'i.id', 's.item_id')
      .innerJoin('groups as g', 'g.id', 's.label_id')
      .select(['s.id', 's.order_id', 's.listing_id', 's.seller_id', 's.item_id', 'i.name as item_name', 'g.name as label'])
      .leftJoin('sale_cancellations as c', 'c.sale_id', 's.id')
      .select(['s.quantity', 's.unit_price', 's.payout', 's.sold_at', 'c.cancelled_at'])
      .orderBy('s.sold_at', 'desc')
      .orderBy('s.id', 'desc')
    const [rows, total] = await Promise.all([inRange(sales, range).execute(), countOf(matching)])
    const shown = rows.map(({ unit_price, payout, sold_at, cancelled_at, ...row }) => ({
      ...row,
      unit_price: Number(unit_price),
      seller_payout: Number(payout),
      sold_at: sold_at.toISOString(),
      cancelled_at: cancelled_at?.toISOString() ?? null,
    }))
    return { rows: shown, total }
  },
)

type Sales = SelectQueryBuilder<Schema & { s: Schema['sales'] }, 's', object>

function linesOf(sales: Sales, filter: { seller_id?: number; item_id?: number; listing_id?: number }): Sales {
  let lines = sales
  for (const [column, value] of Object.entries(filter) as [keyof typeof filter, number][])
    lines = lines.where(`s.${column}`, '=', column === 'item_id' ? liveItem(value) : idForSql(value))
  return lines
}

/** Reads an order with the current state of its lines. */
export const getOrder = verb(
  {
    name: 'getOrder',
    needs: 'operator',
    input: Type.Object({ order_id: Type.Integer({ description: 'Order id assigned by the shop' }) }),
  },
  (ctx: ReadCtx, { order_id: orderId }): Promise<StoredOrder> => fetchStoredOrder(ctx.db.kysely, orderId),
)
