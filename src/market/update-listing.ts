// Changes an own listing in part; anything but the price sends it to approval (interface.md, "PATCH /plus/listings/{id}").
import { invalid } from '#core/errors.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import { checkedTexts, checkOffer, offerKurus, OwnFields, price, priceKurus } from './fields.ts'
import { repriceListing } from './reprice.ts'
import { QUEUED } from './rules.ts'
import { auditedListing, kurusOfRow, kurusText, listingTag, minOfferKurus } from './store.ts'
import { act, priceValues } from './transition.ts'
import type { ListingResult, MarketCtx } from './types.ts'

export const updateListing = verb(
  {
    name: 'updateListing',
    needs: OPERATION_PLAN.updateListing,
    writes: true,
    input: Type.Object({ id: id('listing'), price: Type.Optional(price()), ...OwnFields }, { additionalProperties: false }),
  },
  (ctx: MarketCtx, { id, ...fields }): Promise<ListingResult> => {
    const names = Object.keys(fields)
    if (names.length === 0) {
      throw invalid('body', 'at_least_one', { fields: ['price', ...Object.keys(OwnFields)] })
    }
    const newPrice = fields.price === undefined ? null : priceKurus(fields.price)
    if (newPrice !== null && names.length === 1) return repriceListing(ctx, { id, kurus: newPrice })
    const texts = checkedTexts(fields)
    const newOffer = fields.min_offer_price === undefined ? undefined : offerKurus(fields.min_offer_price)
    return act(ctx, id, 'edit', async ({ before, status, now, update, audit }) => {
      const offer = newOffer === undefined ? minOfferKurus(before) : newOffer
      checkOffer(newOffer === undefined ? 'price' : 'min_offer_price', newPrice ?? kurusOfRow(before), offer)
      const after = await update({
        ...texts,
        ...(fields.shipping_payer !== undefined && { shipping_payer: fields.shipping_payer }),
        ...(fields.offers_enabled !== undefined && { offers_enabled: fields.offers_enabled }),
        ...(newOffer !== undefined && { min_offer_price: kurusText(newOffer) }),
        ...(newPrice !== null && priceValues(status, kurusText(newPrice)!)),
      })
      audit(auditedListing(before, now), auditedListing(after, now), 'update')
      const message = `The listing is changed${status === QUEUED ? ' and waits for approval' : ''}`
      return { message, id, price: Number(after.price), status: after.status, etag: listingTag(after) }
    })
  },
)
