// Bodies of notifications: exactly the keys of interface.md, "Events"; serialised once, and sent unchanged in every attempt.
import { type Static, Type } from '#core/input.ts'
import { minorToNumber } from '#core/money.ts'
import { namedValues } from '#core/named-values.ts'
import { localTime } from '#core/time.ts'

export const EVENT_KINDS = namedValues('EventKind', ['sale', 'expire'])
export type EventKind = (typeof EVENT_KINDS)[number]

const LocalTime = Type.String({ format: 'date-time', description: 'Local time with offset' })

export const SaleEventSchema = Type.Object(
  {
    event: Type.Literal('sale'),
    sent_at: LocalTime,
    data: Type.Object({
      order_id: Type.Integer({ description: 'Order id assigned by the shop' }),
      listing_id: Type.Integer({ description: 'Id of the listing' }),
      item_name: Type.String({ description: 'Name of the item sold' }),
      quantity: Type.Integer({ description: 'Units sold' }),
      unit_price: Type.Number({ description: 'In TL' }),
      seller_payout: Type.Number({ description: 'Unit price × quantity minus the commission, in TL' }),
      sold_at: LocalTime,
    }),
  },
  { title: 'SaleEvent' },
)

export const ExpireEventSchema = Type.Object(
  {
    event: Type.Literal('expire'),
    sent_at: LocalTime,
    data: Type.Object({
      listing_id: Type.Integer({ description: 'Id of the listing' }),
      title: Type.String({ description: 'Title of the listing' }),
      expired_at: LocalTime,
    }),
  },
  { title: 'ExpireEvent' },
)

/** Time of the events, and the IANA zone of the times in their bodies. */
export interface EventTime {
  now: Date
  zone: string
}

/** One sold order line. */
export interface Sale {
  orderId: number
  listingId: number
  itemName: string
  quantity: number
  unitPriceKurus: number
  payoutKurus: number
  soldAt: Date
}

/** One publication period that ended. */
export interface Expiry {
  listingId: number
  title: string
  expiredAt: Date
}

export function saleData(sale: Sale, zone: string): Static<typeof SaleEventSchema>['data'] {
  return {
    order_id: sale.orderId,
    listing_id: sale.listingId,
    item_name: sale.itemName,
    quantity: sale.quantity,
    unit_price: minorToNumber(sale.unitPriceKurus),
    seller_payout: minorToNumber(sale.payoutKurus),
    sold_at: localTime(sale.soldAt, zone),
  }
}

export function expiryData(expiry: Expiry, zone: string): Static<typeof ExpireEventSchema>['data'] {
  return { listing_id: expiry.listingId, title: expiry.title, expired_at: localTime(expiry.expiredAt, zone) }
}

/** @param sentAt when the event was created; later attempts send the same bytes */
export function eventBody(event: EventKind, sentAt: Date, zone: string, data: object): string {
  return JSON.stringify({ event, sent_at: localTime(sentAt, zone), data })
}
