// Answers to offers: the seller accepts, declines or makes a counter-offer; the buyer accepts the counter-offer or withdraws.
import { conflict, invalid } from '#core/errors.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { minorToNumber } from '#core/money.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { ownAccount, verb } from '#core/verb.ts'
import { change, type Note } from '#db/changes/change.ts'
import { hashRequest } from '#db/changes/idempotency.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import type { Tx } from '#db/schema.ts'
import { emitOffers } from '#webhooks/emit.ts'
import { contentHash, kurusOfRow } from '../listing-content.ts'
import { claimOrder } from '../orders/order-store.ts'
import { lockForOrder, sellLines } from '../orders/record-order.ts'
import { price, priceKurus } from '../records/fields.ts'
import type { MarketCtx, MarketWriteCtx, OrderWriteCtx } from '../marketplace-types.ts'
import type { Order } from '../sale-schemas.ts'
import { answerOffer, changesOf, findOffer, type OfferRow, ownOffer, priceOf, requireStatus, storedOffer, type UnderWay } from './offer-store.ts'
import type { AcceptedOffer, Offer, StoredOffer } from './offer-types.ts'

type SellerCtx = MarketCtx & OrderWriteCtx
const OfferId = Type.Object({ id: id('offer') })

export const acceptOffer = writeVerb(
  { name: 'acceptOffer', needs: OPERATION_PLAN.acceptOffer, input: OfferId },
  (ctx: SellerCtx, input): Promise<Offer> =>
    change(ctx, async (tx, note) => {
      const offer = await findOffer(tx, input.id, ownAccount(ctx.viewer))
      return ownOffer((await accept(ctx, tx, note, offer, 'open')).row, ctx)
    }),
)

export const declineOffer = writeVerb(
  { name: 'declineOffer', needs: OPERATION_PLAN.declineOffer, input: OfferId },
  (ctx: MarketCtx, input): Promise<Offer> =>
    change(ctx, async (tx, note) => {
      const offer = await findOffer(tx, input.id, ownAccount(ctx.viewer))
      const row = await answerOffer(tx, offer, { from: 'open', to: 'declined' }, ctx.now())
      await tell(ctx, tx, note, { action: 'offer.decline', before: offer, after: row })
      return ownOffer(row, ctx)
    }),
)

export const counterOffer = writeVerb(
  {
    name: 'counterOffer',
    needs: OPERATION_PLAN.counterOffer,
    input: Type.Object({ id: id('offer'), price: price() }, { additionalProperties: false }),
  },
  (ctx: MarketCtx, input): Promise<Offer> =>
    change(ctx, async (tx, note) => {
      const offer = requireStatus(await findOffer(tx, input.id, ownAccount(ctx.viewer)), 'open', ctx.now())
      const kurus = priceKurus(input.price)
      const offered = priceOf(offer)
      const { listing } = await lockOffered(ctx, tx, note, offer, 'open')
      if (kurus <= offered || kurus >= kurusOfRow(listing))
        throw invalid('price', 'between', { min: minorToNumber(offered), max: minorToNumber(kurusOfRow(listing)) })
      const row = await answerOffer(tx, offer, { from: 'open', to: 'countered', counterKurus: kurus }, ctx.now())
      await tell(ctx, tx, note, { action: 'offer.counter', before: offer, after: row })
      return ownOffer(row, ctx)
    }),
)

/** The shop: the buyer accepts the counter-offer. */
export const acceptCounterOffer = verb(
  { name: 'acceptCounterOffer', needs: 'market', input: OfferId },
  (ctx: OrderWriteCtx, input): Promise<AcceptedOffer> =>
    change(ctx, async (tx, note) => {
      const { row, order } = await accept(ctx, tx, note, await findOffer(tx, input.id), 'countered')
      return { offer: storedOffer(row, ctx.now()), order }
    }),
)

/** The shop: the buyer takes an offer back or declines the counter-offer. */
export const withdrawOffer = verb(
  { name: 'withdrawOffer', needs: 'market', input: OfferId },
  (ctx: MarketWriteCtx, input): Promise<StoredOffer> =>
    change(ctx, async (tx, note) => {
      const offer = await findOffer(tx, input.id)
      const from: UnderWay = offer.status === 'countered' ? 'countered' : 'open'
      const row = await answerOffer(tx, offer, { from, to: 'withdrawn' }, ctx.now())
      await tell(ctx, tx, note, { action: 'offer.withdraw', before: offer, after: row })
      return storedOffer(row, ctx.now())
    }),
)

/** The units of an offer as an order line. @throws CONFLICT for a deleted listing */
function saleOf({ listing_id, quantity }: OfferRow): { listing_id: number; quantity: number } {
  if (listing_id === null) throw conflict('offer_listing_deleted')
  return { listing_id, quantity }
}

/**
 * Records the order of an accepted offer, at the lower of its price and the listing's. The listing is locked before the offer, as in
 * all writes that change both.
 */
async function accept(ctx: OrderWriteCtx, tx: Tx, note: Note, offer: OfferRow, from: UnderWay): Promise<{ row: OfferRow; order: Order }> {
  const now = ctx.now()
  const { order_id: orderId } = requireStatus(offer, from, now)
  if (!(await claimOrder(tx, orderId, hashRequest('POST', `/offers/${offer.id}`, null), now, now))) {
    // It may have become this order in the meantime.
    requireStatus(await findOffer(tx, offer.id), from, now)
    throw conflict('order_id_used', { id: orderId })
  }
  const { line, listing, selling } = await lockOffered(ctx, tx, note, offer, from)
  if (!contentHash(listing).equals(offer.content_hash)) throw conflict('offer_outdated', { id: listing.id })
  const row = await answerOffer(tx, offer, { from, to: 'accepted' }, now)
  const unit_price = minorToNumber(Math.min(priceOf(row), kurusOfRow(listing)))
  const buyer = { reference: offer.buyer_reference, accountId: offer.buyer_account_id }
  const order = await sellLines(ctx, tx, note, { orderId, buyer }, { ...selling, lines: [{ ...line, unit_price }] })
  await tell(ctx, tx, note, { action: 'offer.accept', before: offer, after: row })
  return { row, order }
}

/** Locks the listing of an offer. A write that deleted the listing in the meantime has declined the offer. */
async function lockOffered(ctx: MarketWriteCtx, tx: Tx, note: Note, offer: OfferRow, from: UnderWay) {
  const line = saleOf(offer)
  const now = ctx.now()
  const selling = await lockForOrder(ctx, tx, note, { lines: [line], soldAt: now }).catch(async (error: unknown) => {
    requireStatus(await findOffer(tx, offer.id), from, now)
    throw error
  })
  return { line, selling, listing: selling.listings.get(line.listing_id)! }
}

interface Change {
  action: string
  before: OfferRow
  after: OfferRow
}

async function tell(ctx: MarketWriteCtx, tx: Tx, note: Note, { action, before, after }: Change): Promise<void> {
  const now = ctx.now()
  await emitOffers(tx, { now, zone: ctx.market.timeZone }, changesOf([after]))
  note.audit({ action, subject: 'offer', id: after.id, before: storedOffer(before, now), after: storedOffer(after, now) })
}
