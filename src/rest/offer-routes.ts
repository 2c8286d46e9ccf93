// Offers of buyers for the account's listings.
import { paged, type Route } from '#http/route.ts'
import { acceptOffer, counterOffer, declineOffer } from '#market/offers/answer-offers.ts'
import { listMyOffers } from '#market/offers/list-offers.ts'
import { type Offer, OfferSchema } from '#market/offers/offer-types.ts'
import type { MarketCtx, OrderWriteCtx } from '#market/marketplace-types.ts'

const tag = 'Listings'
const path = '/plus/offers'

export const offerRoutes: Route<MarketCtx & OrderWriteCtx>[] = [
  {
    path,
    ...paged(listMyOffers, OfferSchema),
    summary: 'List offers for your listings, newest first',
    description:
      'Buyers may offer a lower price for listings with `offers_enabled`. An offer waits 48 hours for your answer; changes of offers are `offer` ' +
      'events in `GET /plus/events`.',
    tag,
  },
  {
    method: 'POST',
    path: `${path}/:id/accept`,
    verb: acceptOffer,
    summary: 'Accept an offer',
    description:
      'The offer becomes an order at its price, or at the price of the listing if that is lower by now. Stock, sales and notifications are those of ' +
      'any order. Rejected if the listing is not for sale, has too little stock, or its content was changed after the offer was made.',
    tag,
    answer: (offer: Offer) => ({ data: offer, message: 'Offer accepted' }),
    data: OfferSchema,
    errors: ['NOT_FOUND', 'CONFLICT', 'INVALID_JSON'],
  },
  {
    method: 'POST',
    path: `${path}/:id/decline`,
    verb: declineOffer,
    summary: 'Decline an offer',
    tag,
    answer: (offer: Offer) => ({ data: offer, message: 'Offer declined' }),
    data: OfferSchema,
    errors: ['NOT_FOUND', 'CONFLICT', 'INVALID_JSON'],
  },
  {
    method: 'POST',
    path: `${path}/:id/counter`,
    verb: counterOffer,
    summary: 'Make a counter-offer',
    description: '`price` per unit, above the offer and below the price of the listing. The buyer has 48 hours to accept it.',
    tag,
    answer: (offer: Offer) => ({ data: offer, message: 'Counter-offer made' }),
    data: OfferSchema,
    errors: ['NOT_FOUND', 'CONFLICT', 'INVALID_JSON'],
  },
]
