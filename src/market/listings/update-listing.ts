// Changes an own listing in part; anything but price, quantity and SKU sends it to approval (interface.md, "PATCH /plus/listings/{id}").
import { checkCopies } from '#catalogue/certificates/certificate.ts'
import { invalid } from '#core/errors.ts'
import type { CatalogueNode } from '#catalogue/context.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import { changeMarks, changeStock, type NewStock } from './change-stock.ts'
import { valuesOf } from './listing-body.ts'
import { certificateFor } from '../certificates/known.ts'
import { checkOffer, OwnFields, priceKurus, StockFields } from '../records/fields.ts'
import { DryRun, forecasting } from '../visibility/forecast.ts'
import { QUEUED } from '../records/rules.ts'
import { listingTag } from '../listing-store.ts'
import { auditedListing, kurusOfRow, kurusText, minOfferKurus } from '../listing-content.ts'
import { act, priceValues } from './transition.ts'
import type { ListingResult, MarketCtx } from '../marketplace-types.ts'

export const updateListing = verb(
  {
    name: 'updateListing',
    needs: OPERATION_PLAN.updateListing,
    writes: true,
    input: Type.Object({ id: id('listing'), ...StockFields, ...OwnFields, ...DryRun }),
  },
  (ctx: MarketCtx & CatalogueNode, input): Promise<ListingResult> =>
    forecasting(ctx, input, async (ctx, { id, price, quantity, sku, ...content }) => {
      const stock: NewStock = {
        ...(price !== undefined && { kurus: priceKurus(price) }),
        ...(quantity !== undefined && { quantity }),
        ...(sku !== undefined && { sku: sku?.trim() ?? null }),
      }
      if (Object.keys(content).length === 0) {
        if (Object.keys(stock).length === 0)
          throw invalid('body', 'at_least_one', { fields: [...Object.keys(StockFields), ...Object.keys(OwnFields)] })
        return changeStock(ctx, { id, ...stock })
      }
      const { kurus, ...others } = stock
      const values = valuesOf(content)
      return act(ctx, id, 'edit', async ({ tx, before, status, now, update, audit }) => {
        const offer = minOfferKurus({ ...before, ...values })
        checkOffer(content.min_offer_price === undefined ? 'price' : 'min_offer_price', kurus ?? kurusOfRow(before), offer)
        const certificate = content.certificate === undefined ? before.certificate : await certificateFor(tx, before.seller_id, content.certificate)
        checkCopies(quantity ?? before.quantity, certificate)
        const after = await update({
          ...values,
          certificate,
          ...(kurus !== undefined && priceValues(status, kurusText(kurus)!)),
          ...others,
          ...changeMarks(before.version + 1, { price: kurus !== undefined, stock: quantity !== undefined, other: true }, null),
        })
        audit(auditedListing(before, now), auditedListing(after, now), 'update')
        const message = status === QUEUED ? 'Listing updated, pending approval' : 'Listing updated'
        return { message, id, price: Number(after.price), status: after.status, etag: listingTag(after) }
      })
    }),
)
