// What a collector and its buyers did in the demo: sold and bought further copies, watches, offers, and consumer prices for gains in real lira.

import { addCollectionDisposal } from '#collections/lots/change-disposals.ts'
import { addCollectionLot } from '#collections/lots/change-lots.ts'
import type { LotWriteCtx } from '#collections/lots/lot-types.ts'
import { DAY_MS } from '#core/duration.ts'
import { parseMinor } from '#core/money.ts'
import { call, type Viewer } from '#core/verb.ts'
import type { ForecastCtx } from '#market/marketplace-types.ts'
import { makeOffer } from '#market/offers/make-offer.ts'
import { setIndices } from '#prices/indices/set-indices.ts'
import { putWatches } from '#watches/put-watches.ts'

const MONTHS = 30
/** Monthly rise of the invented consumer prices. */
const RISE = 1.024
/** High enough not to collide with the order ids of a shop's first tests, nor with those of the demo's orders. */
const FIRST_OFFERED_ORDER = 9_100_000_000
/** Shares of the price at which buyers offer; the lowest is below what the seller accepts, and is declined. */
const OFFERED = [0.95, 0.9, 0.88, 0.84, 0.7]

/** The account that works. */
type CollectorCtx = ForecastCtx & LotWriteCtx & { viewer: Viewer & { kind: 'account' } }

/** @param ctx of the operator for what the shop and the operator do, and of the collector */
export async function addDemoCollector(ctx: ForecastCtx, collector: CollectorCtx, collectionId: number): Promise<void> {
  await call(setIndices, ctx, { indices: consumerPrices(ctx.now()) })
  await addLots(collector, collectionId)
  await addWatches(collector, collectionId)
  await makeOffers(ctx, collector.viewer.accountId)
}

/** Ends with the month before the last one, like published figures. */
function consumerPrices(now: Date) {
  return Array.from({ length: MONTHS }, (_, i) => {
    const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1 - MONTHS + i + 1, 1))
    return { index: 'TRY_CPI', month: month.toISOString().slice(0, 7), value: Math.round(240_000 * RISE ** i) / 100 }
  })
}

/** Of records with several copies, one is sold, and one bought since. */
async function addLots(ctx: CollectorCtx, collectionId: number): Promise<void> {
  const several = ctx.db.kysely.selectFrom('collection_items').select(['id', 'purchase_price', 'purchase_date'])
  const records = await several.where('collection_id', '=', collectionId).where('quantity', '>', 2).orderBy('id').limit(4).execute()
  for (const [i, { id, purchase_price: price }] of records.entries()) {
    const cost = price === null ? 120 : Number(price)
    const record = { id: collectionId, itemId: id }
    const day = (ago: number) => new Date(ctx.now().getTime() - ago * DAY_MS).toISOString().slice(0, 10)
    await call(addCollectionLot, ctx, { ...record, acquired_at: day(40 - i), quantity: 1, unit_cost: cost, fees: 5 })
    await call(addCollectionDisposal, ctx, {
      ...record,
      at: day(12 - i),
      quantity: 1,
      gross: Math.round(cost * (i === 2 ? 0.8 : 1.6)),
      fees: 20,
      shipping: 35,
    })
  }
}

/** Watches of the most expensive items of the collection that are on sale: some are due at once, others are not. */
async function addWatches(ctx: CollectorCtx, collectionId: number): Promise<void> {
  const onSale = ctx.db.kysely
    .selectFrom('listings as l')
    .innerJoin('collection_items as r', 'r.item_id', 'l.item_id')
    .select(({ fn }) => ['l.item_id', fn.min('l.price').as('price')])
    .where('r.collection_id', '=', collectionId)
    .where('l.status', '=', 'active')
    .where('l.seller_id', '!=', ctx.viewer.accountId)
  const items = await onSale.groupBy('l.item_id').orderBy('price', 'desc').orderBy('l.item_id').limit(6).execute()
  const watches = items.map(({ item_id, price }, i) => ({
    kind: 'offer_below' as const,
    item_id,
    amount: Math.max(1, Math.round(Number(price) * (i % 2 === 0 ? 1.05 : 0.8))),
    currency: 'TRY',
  }))
  if (watches.length > 0) await call(putWatches, ctx, { watches })
}

async function makeOffers(ctx: ForecastCtx, sellerId: number): Promise<void> {
  const accepting = ctx.db.kysely.selectFrom('listings').select(['id', 'price']).where('seller_id', '=', sellerId).where('status', '=', 'active')
  const listings = await accepting.where('offers_enabled', '=', true).orderBy('price', 'desc').orderBy('id').limit(OFFERED.length).execute()
  for (const [i, { id, price }] of listings.entries()) {
    const unit_price = Math.floor((parseMinor(price)! * OFFERED[i]!) / 1_000) * 10
    await call(makeOffer, ctx, { listing_id: id, unit_price, order_id: FIRST_OFFERED_ORDER + i, buyer_reference: `customer ${7 + i}` })
  }
}
