// Operator API: orders of the shop's checkout.
import { paged, type Route } from '#http/route.ts'
import { cancelOrder } from '#market/orders/cancel-order.ts'
import { getOrder, listOrders, listSales } from '#market/orders/read-orders.ts'
import { recordOrder } from '#market/orders/record-order.ts'
import type { OrderWriteCtx } from '#market/marketplace-types.ts'
import { type Order, OrderSchema, type StoredOrder, StoredOrderSchema, StoredSaleSchema } from '#market/sale-schemas.ts'

const tag = 'Orders'

export const orderRoutes: Route<OrderWriteCtx>[] = [
  {
    method: 'POST',
    path: '/orders',
    verb: recordOrder,
    summary: 'Record an order',
    description:
      'Updates stock, sales, payouts, prices and notifications in one transaction. Repeating an `order_id` with the same body returns the first response; a different body is rejected, as is an order that exceeds the stock.',
    tag,
    status: 201,
    answer: (order: Order) => ({ data: order, message: 'Order recorded' }),
    data: OrderSchema,
    errors: ['INVALID_JSON', 'CONFLICT'],
  },
  {
    path: '/orders',
    ...paged(listOrders, StoredOrderSchema),
    summary: 'List orders with the state of their lines, latest sale first',
    tag,
    csvEntries: 'lines',
  },
  {
    method: 'GET',
    path: '/orders/:order_id',
    verb: getOrder,
    summary: 'Read an order with the state of its lines',
    tag,
    answer: (order: StoredOrder) => ({ data: order }),
    data: StoredOrderSchema,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/orders/:order_id/cancel',
    verb: cancelOrder,
    summary: 'Cancel an order or some of its lines',
    description:
      'Records a refund to the buyer of whole lines, each once. The stock is returned; a sold listing becomes active again if it can ' +
      "be published, otherwise expired or paused. Prices, averages, recent sales and statistics no longer include the sales, and the sellers' " +
      'statements show the refunds. No notification is sent.',
    tag,
    answer: (order: StoredOrder) => ({ data: order, message: 'Lines cancelled' }),
    data: StoredOrderSchema,
    errors: ['INVALID_JSON', 'NOT_FOUND', 'CONFLICT'],
  },
  {
    path: '/sales',
    ...paged(listSales, StoredSaleSchema),
    summary: 'List sales, newest first',
    tag,
  },
]
