// Offers of buyers as returned by verbs: what sellers see, and what operators see in addition.
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { OFFER_STATES } from '#webhooks/events/event-body.ts'
import { Time } from '../marketplace-types.ts'
import { OrderSchema } from '../sale-schemas.ts'

const Status = Type.Enum([...OFFER_STATES], {
  description:
    '`open` waits for the seller, `countered` for the buyer. `withdrawn`: the buyer took the offer back or declined the counter-offer. ' +
    '`expired`: nobody answered in time',
})

const Shown = {
  id: Type.Integer({ description: 'Id of the offer' }),
  listing_id: orNull(Type.Integer(), { description: 'null if the listing was deleted' }),
  title: Type.String({ description: 'Title of the listing when the offer was made' }),
  listing_price: Type.Number({ description: 'Price of the listing when the offer was made, in TL' }),
  quantity: Type.Integer({ description: 'Units' }),
  unit_price: Type.Number({ description: 'Price per unit that the buyer offers, in TL' }),
  counter_price: orNull(Type.Number(), { description: 'Price per unit that the seller asks instead, in TL; null for none' }),
  status: Status,
}

const LOCAL = 'Local time with offset'

/** An offer as its seller sees it. */
export const OfferSchema = Type.Object(
  {
    ...Shown,
    payout: Type.Number({ description: 'Payout for all units at the price under discussion (`counter_price` if there is one), in TL' }),
    order_id: orNull(Type.Integer(), { description: 'Order that the accepted offer became; null for other offers' }),
    created_at: Time(LOCAL),
    changed_at: Time(`When the status last changed; ${LOCAL.toLowerCase()}`),
    expires_at: Time(`Until when it can be answered; ${LOCAL.toLowerCase()}`),
  },
  { title: 'Offer' },
)
export type Offer = Static<typeof OfferSchema>

/** An offer as operators and the shop see it. */
export const StoredOfferSchema = Type.Object(
  {
    ...Shown,
    seller_id: Type.Integer(),
    order_id: Type.Integer({ description: 'Id that the order gets if the offer is accepted' }),
    buyer_reference: Type.String({ description: 'Reference of the buyer assigned by the shop; not shown to sellers' }),
    buyer_account_id: orNull(Type.Integer(), { description: 'Account of the buyer, if it has one' }),
    created_at: Time('UTC'),
    changed_at: Time('UTC; when the status last changed'),
    expires_at: Time('UTC; until when it can be answered'),
  },
  { title: 'StoredOffer' },
)
export type StoredOffer = Static<typeof StoredOfferSchema>

/** An accepted offer with its order. */
export const AcceptedOfferSchema = Type.Object({ offer: StoredOfferSchema, order: OrderSchema }, { title: 'AcceptedOffer' })
export type AcceptedOffer = Static<typeof AcceptedOfferSchema>
