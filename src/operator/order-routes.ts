// Operator API: orders of the shop's checkout.
import { Type } from '#core/input.ts'
import type { Page } from '#core/paging.ts'
import type { Route } from '#http/route.ts'
import { getOrder } from '#market/get-order.ts'
import { listOrders } from '#market/list-orders.ts'
import { listSales } from '#market/list-sales.ts'
import { recordOrder } from '#market/record-order.ts'
import { type MarketWriteCtx, type Order, OrderSchema, type StoredSale, StoredSaleSchema } from '#market/types.ts'

const tag = 'Orders'

export const orderRoutes: Route<MarketWriteCtx>[] = [
  {
    method: 'POST',
    path: '/orders',
    verb: recordOrder,
    summary: 'Record an order',
    description:
      'All or nothing: stock, sales, payouts, prices and notifications. The same `order_id` with the same body answers what the first did; another body is refused, and so is an order of more than there is.',
    tag,
    status: 201,
    answer: (order: Order) => ({ data: order, message: 'The order is recorded' }),
    data: OrderSchema,
    errors: ['INVALID_JSON', 'CONFLICT'],
  },
  {
    method: 'GET',
    path: '/orders',
    verb: listOrders,
    summary: 'Orders as they were answered, latest sale first',
    tag,
    answer: ({ rows, pagination }: Page<Order>) => ({ data: rows, pagination }),
    data: Type.Array(OrderSchema),
    paged: true,
  },
  {
    method: 'GET',
    path: '/orders/:order_id',
    verb: getOrder,
    summary: 'An order as it was answered',
    tag,
    answer: (order: Order) => ({ data: order }),
    data: OrderSchema,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'GET',
    path: '/sales',
    verb: listSales,
    summary: 'Sales with who sold what, newest first',
    tag,
    answer: ({ rows, pagination }: Page<StoredSale>) => ({ data: rows, pagination }),
    data: Type.Array(StoredSaleSchema),
    paged: true,
  },
]
