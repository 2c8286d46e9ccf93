// Records the offer of a buyer for a published listing whose seller accepts offers.
import { conflict, invalid } from '#core/errors.ts'
import { name } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { parseMinor } from '#core/money.ts'
import { reason } from '#core/problems.ts'
import { verb } from '#core/verb.ts'
import { change } from '#db/changes/change.ts'
import { mapUniqueViolation } from '#db/unique.ts'
import { emitOffers } from '#webhooks/emit.ts'
import { MAX_PRICE, MAX_UNITS, unitPriceKurus } from '../records/fields.ts'
import { findListing } from '../listing-store.ts'
import { kurusOfRow } from '../listing-content.ts'
import { buyerAccount, lockForOrder } from '../orders/record-order.ts'
import type { MarketWriteCtx } from '../marketplace-types.ts'
import { changesOf, closeExpired, countOffers, insertOffer, storedOffer } from './offer-store.ts'
import type { StoredOffer } from './offer-types.ts'

/** Offers for one listing that wait for an answer. */
const MAX_UNDER_WAY = 100
/** Offers of a buyer for one listing in 30 days: more would find the seller's lowest price by trying. */
const MAX_OF_BUYER = 5

export const makeOffer = verb(
  {
    name: 'makeOffer',
    needs: 'market',
    input: Type.Object(
      {
        listing_id: Type.Integer(),
        quantity: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_UNITS, default: 1 })),
        unit_price: Type.Number({
          minimum: 0,
          maximum: MAX_PRICE,
          allowed: reason('number', { above: 0, max: MAX_PRICE, decimals: 2 }),
          description: "Per unit, in TL; below the listing's price",
        }),
        order_id: Type.Integer({
          minimum: 1,
          maximum: Number.MAX_SAFE_INTEGER,
          description: 'Id that the shop assigns to the order if the offer is accepted',
        }),
        buyer_reference: name('Reference of the buyer assigned by the shop; not shown to sellers', 100),
        buyer_account_id: Type.Optional(Type.Integer({ description: 'Account of the buyer, if it has one' })),
      },
      { additionalProperties: false },
    ),
  },
  (ctx: MarketWriteCtx, input): Promise<StoredOffer> =>
    change(ctx, async (tx, note) => {
      const now = ctx.now()
      const { quantity = 1, order_id } = input
      const buyer = input.buyer_reference.trim()
      const kurus = unitPriceKurus('unit_price', input.unit_price)
      const buyer_account_id = await buyerAccount(tx, input.buyer_account_id)
      if (!(await findListing(tx, input.listing_id))) throw invalid('listing_id', 'unknown_id', { thing: 'listing', id: input.listing_id })
      const { listings } = await lockForOrder(ctx, tx, note, {
        lines: [{ listing_id: input.listing_id, quantity }],
        soldAt: now,
        fieldOf: () => 'listing_id',
      })
      const listing = listings.get(input.listing_id)!
      if (!listing.offers_enabled) throw conflict('no_offers', { id: listing.id })
      if (kurus >= kurusOfRow(listing)) throw invalid('unit_price', 'below_price', { max: kurusOfRow(listing) / 100 })
      const expired = await closeExpired(tx, now, MAX_UNDER_WAY, listing.id)
      const { underWay, ofBuyer } = await countOffers(tx, listing.id, buyer, now)
      if (underWay >= MAX_UNDER_WAY) throw conflict('too_many_offers', { id: listing.id, max: MAX_UNDER_WAY })
      if (ofBuyer >= MAX_OF_BUYER) throw conflict('too_many_offers_of_buyer', { id: listing.id, max: MAX_OF_BUYER })
      if (await tx.selectFrom('orders').select('order_id').where('order_id', '=', order_id).executeTakeFirst())
        throw conflict('order_id_used', { id: order_id })
      // An offer below the seller's limit is declined without telling anyone the limit.
      const status = listing.min_offer_price !== null && kurus < parseMinor(listing.min_offer_price)! ? 'declined' : 'open'
      const row = await mapUniqueViolation(
        () => insertOffer(tx, { listing, order_id, buyer_reference: buyer, buyer_account_id, quantity, kurus, status }, now),
        (index) => {
          if (index === 'offers_under_way') return conflict('offer_under_way', { id: listing.id })
          return index === 'offers_by_order' ? conflict('order_id_used', { id: order_id }) : null
        },
      )
      const changed = status === 'open' ? [...expired, row] : expired
      await emitOffers(tx, { now, zone: ctx.market.timeZone }, changesOf(changed))
      const offer = storedOffer(row, now)
      note.audit({ action: 'offer.make', subject: 'offer', id: row.id, after: offer })
      return offer
    }),
)
