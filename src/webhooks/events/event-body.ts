// Bodies of events: those of notifications have exactly the keys of interface.md, "Events"; serialised once, and sent unchanged in every attempt.
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { minorToNumber } from '#core/money.ts'
import { namedValues } from '#core/named-values.ts'
import { localTime } from '#core/time.ts'

/** Events that webhooks receive. */
export const EVENT_KINDS = namedValues('EventKind', ['sale', 'expire'])
export type EventKind = (typeof EVENT_KINDS)[number]

/** Events of the feed. Webhooks never receive the others: the interface defines what they get. */
export const FEED_KINDS = namedValues('FeedEventKind', [...EVENT_KINDS, 'offer'])
export type FeedKind = (typeof FEED_KINDS)[number]

export function isWebhookKind(kind: FeedKind): kind is EventKind {
  return (EVENT_KINDS as readonly FeedKind[]).includes(kind)
}

export const OFFER_STATES = namedValues('OfferStatus', ['open', 'countered', 'accepted', 'declined', 'withdrawn', 'expired'])
export type OfferState = (typeof OFFER_STATES)[number]

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

export const OfferEventSchema = Type.Object(
  {
    event: Type.Literal('offer'),
    sent_at: LocalTime,
    data: Type.Object({
      offer_id: Type.Integer({ description: 'Id of the offer' }),
      listing_id: Type.Integer({ description: 'Id of the listing' }),
      title: Type.String({ description: 'Title of the listing' }),
      quantity: Type.Integer({ description: 'Units' }),
      unit_price: Type.Number({ description: 'Price per unit that the buyer offered, in TL' }),
      counter_price: orNull(Type.Number(), { description: 'Price per unit that the seller asks instead, in TL; null for none' }),
      status: Type.Enum([...OFFER_STATES], { description: 'Status of the offer after this event' }),
      expires_at: LocalTime,
    }),
  },
  { title: 'OfferEvent' },
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

/** An offer after a change. */
export interface OfferChange {
  offerId: number
  listingId: number
  title: string
  quantity: number
  unitPriceKurus: number
  counterKurus: number | null
  status: OfferState
  expiresAt: Date
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

export function offerData(offer: OfferChange, zone: string): Static<typeof OfferEventSchema>['data'] {
  return {
    offer_id: offer.offerId,
    listing_id: offer.listingId,
    title: offer.title,
    quantity: offer.quantity,
    unit_price: minorToNumber(offer.unitPriceKurus),
    counter_price: offer.counterKurus === null ? null : minorToNumber(offer.counterKurus),
    status: offer.status,
    expires_at: localTime(offer.expiresAt, zone),
  }
}

/** @param sentAt when the event was created; later attempts send the same bytes */
export function eventBody(event: FeedKind, sentAt: Date, zone: string, data: object): string {
  return JSON.stringify({ event, sent_at: localTime(sentAt, zone), data })
}
