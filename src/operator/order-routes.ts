// Operator API: orders of the shop's checkout, and the offers of buyers that the shop records.
import { paged, type Route } from '#http/route.ts'
import { acceptCounterOffer, withdrawOffer } from '#market/offers/answer-offers.ts'
import { getOffer, listOffers } from '#market/offers/list-offers.ts'
import { makeOffer } from '#market/offers/make-offer.ts'
import { type AcceptedOffer, AcceptedOfferSchema, type StoredOffer, StoredOfferSchema } from '#market/offers/offer-types.ts'
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

export const offerRoutes: Route<OrderWriteCtx>[] = [
  {
    method: 'POST',
    path: '/offers',
    verb: makeOffer,
    summary: 'Record the offer of a buyer',
    description:
      'For a listing that is for sale and has `offers_enabled`, at a price below its own. The seller has 48 hours to accept, decline or make a ' +
      'counter-offer. An offer below the `min_offer_price` of the listing is `declined` at once. A buyer has at most one offer for a listing that waits ' +
      'for an answer, and five in 30 days. An accepted offer is the order `order_id`: read `GET /offers` with `changed_since` for the answers.',
    tag,
    status: 201,
    answer: (offer: StoredOffer) => ({ data: offer, message: 'Offer recorded' }),
    data: StoredOfferSchema,
    errors: ['INVALID_JSON', 'CONFLICT'],
  },
  { path: '/offers', ...paged(listOffers, StoredOfferSchema), summary: 'List offers, newest first', tag },
  {
    method: 'GET',
    path: '/offers/:id',
    verb: getOffer,
    summary: 'Read an offer',
    tag,
    answer: (offer: StoredOffer) => ({ data: offer }),
    data: StoredOfferSchema,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/offers/:id/accept',
    verb: acceptCounterOffer,
    summary: 'Accept a counter-offer for the buyer',
    description: 'Records the order `order_id` at the price of the counter-offer, or at the price of the listing if that is lower by now.',
    tag,
    answer: (accepted: AcceptedOffer) => ({ data: accepted, message: 'Order recorded' }),
    data: AcceptedOfferSchema,
    errors: ['INVALID_JSON', 'NOT_FOUND', 'CONFLICT'],
  },
  {
    method: 'POST',
    path: '/offers/:id/withdraw',
    verb: withdrawOffer,
    summary: 'Withdraw an offer, or decline a counter-offer, for the buyer',
    tag,
    answer: (offer: StoredOffer) => ({ data: offer, message: 'Offer withdrawn' }),
    data: StoredOfferSchema,
    errors: ['INVALID_JSON', 'NOT_FOUND', 'CONFLICT'],
  },
]
