// Bodies of events: those of notifications have exactly the keys of interface.md, "Events"; serialised once, and sent unchanged in every attempt.
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { type Market, MARKETS } from '#core/markets.ts'
import { minorToNumber } from '#core/money.ts'
import { namedValues } from '#core/named-values.ts'
import { localTime } from '#core/time.ts'

/** Events that webhooks receive. */
export const EVENT_KINDS = namedValues('EventKind', ['sale', 'expire'])
export type EventKind = (typeof EVENT_KINDS)[number]

/** Events of the feed. Webhooks never receive the others: the interface defines what they get. */
export const FEED_KINDS = namedValues('FeedEventKind', [...EVENT_KINDS, 'offer', 'watch'])
export type FeedKind = (typeof FEED_KINDS)[number]

export function isWebhookKind(kind: FeedKind): kind is EventKind {
  return (EVENT_KINDS as readonly FeedKind[]).includes(kind)
}

export const OFFER_STATES = namedValues('OfferStatus', ['open', 'countered', 'accepted', 'declined', 'withdrawn', 'expired'])
export type OfferState = (typeof OFFER_STATES)[number]

export const ITEM_WATCH_KINDS = namedValues('ItemWatchKind', ['offer_below', 'price_below', 'price_above'])
export type ItemWatchKind = (typeof ITEM_WATCH_KINDS)[number]
export const GOAL_WATCH_KIND = 'goal_reopened'
export const WATCH_KINDS = namedValues('WatchKind', [...ITEM_WATCH_KINDS, GOAL_WATCH_KIND])
export type WatchKind = (typeof WATCH_KINDS)[number]

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

export const WatchEventSchema = Type.Object(
  {
    event: Type.Literal('watch'),
    sent_at: LocalTime,
    data: Type.Object({
      watch_id: Type.Integer({ description: 'Id of the watch' }),
      kind: Type.Enum([...ITEM_WATCH_KINDS], { description: 'Kind of the watch' }),
      item_id: Type.Integer({ description: 'Id of the item' }),
      item_name: Type.String({ description: 'Name of the item' }),
      label: Type.String({ description: 'Condition or grade of the price or the listing' }),
      amount: Type.Number({ description: 'Amount of the watch' }),
      price: Type.Number({ description: 'Price that meets the condition' }),
      currency: Type.String({ description: 'Currency of both' }),
      market: orNull(Type.Enum([...MARKETS]), { description: 'Market of the price, null for a listing' }),
      listing_id: orNull(Type.Integer(), { description: 'Id of the cheapest listing that meets the condition; null for a price of a market' }),
    }),
  },
  { title: 'WatchEvent' },
)

export const GoalEventSchema = Type.Object(
  {
    event: Type.Literal('watch'),
    sent_at: LocalTime,
    data: Type.Object({
      watch_id: Type.Integer({ description: 'Id of the watch' }),
      kind: Type.Literal(GOAL_WATCH_KIND, { description: 'Kind of the watch' }),
      collection_id: Type.Integer({ description: 'Id of the collection' }),
      collection_name: Type.String({ description: 'Name of the collection' }),
      category_id: Type.Integer({ description: 'Category of the set' }),
      category_name: Type.String({ description: 'Name of the set' }),
      goal: Type.String({ description: 'The goal: `base`, `official`, `complete` or `master`' }),
      language: Type.String({ description: '`any`, or the language of the goal' }),
      of: Type.Integer({ description: 'Cards of the goal' }),
      missing_count: Type.Integer({ description: 'Cards that the collection lacks' }),
      missing: Type.Array(
        Type.Object(
          {
            item_id: Type.Integer({ description: 'Id of the item' }),
            name: Type.String({ description: 'Name of the item' }),
            number: orNull(Type.String(), { description: 'Number of the card, as printed' }),
          },
          { title: 'MissingCardOfGoal', description: 'A missing card of a watched goal' },
        ),
        { description: 'The first of these cards, at most 5' },
      ),
    }),
  },
  { title: 'GoalEvent' },
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

/** A watch whose condition is met. */
export interface MetWatch {
  watchId: number
  kind: ItemWatchKind
  itemId: number
  itemName: string
  label: string
  amountMinor: number
  priceMinor: number
  currency: string
  market: Market | null
  listingId: number | null
}

/** A watched goal that was complete and is so no longer, as its event states it. */
export type ReopenedGoal = Omit<Static<typeof GoalEventSchema>['data'], 'kind'>

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

export function watchData(watch: MetWatch): Static<typeof WatchEventSchema>['data'] {
  return {
    watch_id: watch.watchId,
    kind: watch.kind,
    item_id: watch.itemId,
    item_name: watch.itemName,
    label: watch.label,
    amount: minorToNumber(watch.amountMinor),
    price: minorToNumber(watch.priceMinor),
    currency: watch.currency,
    market: watch.market,
    listing_id: watch.listingId,
  }
}

export function goalData(goal: ReopenedGoal): Static<typeof GoalEventSchema>['data'] {
  const { watch_id, ...rest } = goal
  return { watch_id, kind: GOAL_WATCH_KIND, ...rest }
}

/** The body as it is posted: in a sandbox with `livemode: false`, so that no receiver takes it for real; always the same bytes. */
export function postedBody(body: string, livemode: boolean): string {
  return livemode ? body : `{"livemode":false,${body.slice(1)}`
}

/** @param sentAt when the event was created; later attempts send the same bytes */
export function eventBody(event: FeedKind, sentAt: Date, zone: string, data: object): string {
  return JSON.stringify({ event, sent_at: localTime(sentAt, zone), data })
}
