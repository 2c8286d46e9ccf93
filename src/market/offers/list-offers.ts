// Lists offers: a seller's own ones, and all of them for operators and the shop.
import { filter, id, idForSql, moment, momentOf } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { ownAccount, verb } from '#core/verb.ts'
import { pageOf } from '#db/page.ts'
import { OFFER_STATES, type OfferState } from '#webhooks/events/event-body.ts'
import type { MarketCtx, MarketWriteCtx } from '../marketplace-types.ts'
import { findOffer, hasStatus, OFFER_COLUMNS, ownOffer, storedOffer } from './offer-store.ts'
import type { StoredOffer } from './offer-types.ts'

const Filters = {
  status: Type.Optional(Type.Enum([...OFFER_STATES])),
  listing_id: Type.Optional(Type.Integer({ description: 'Only offers for this listing' })),
}

/** Newest first. */
function offersWith(
  { db, now }: Pick<MarketCtx, 'db' | 'now'>,
  { status, listing_id: listingId }: { status?: OfferState | undefined; listing_id?: number | undefined },
) {
  let offers = db.kysely.selectFrom('offers').select(OFFER_COLUMNS).orderBy('id', 'desc')
  if (status !== undefined) offers = offers.where(hasStatus(status, now()))
  if (listingId !== undefined) offers = offers.where('listing_id', '=', idForSql(listingId))
  return offers
}

/** The caller's own offers, newest first. */
export const listMyOffers = listVerb(
  { name: 'listMyOffers', needs: OPERATION_PLAN.listMyOffers, filters: Filters },
  (ctx: MarketCtx, filters, range) => {
    const offers = offersWith(ctx, filters).where('seller_id', '=', ownAccount(ctx.viewer))
    return pageOf(offers, range, (row) => ownOffer(row, ctx))
  },
)

/** All offers, newest first. */
export const listOffers = listVerb(
  {
    name: 'listOffers',
    needs: 'operator',
    filters: {
      ...Filters,
      seller_id: Type.Optional(Type.Integer({ description: 'Only offers to this seller' })),
      buyer_reference: filter('Reference of the buyer, as recorded by the shop'),
      changed_since: Type.Optional(moment('Only offers whose status changed at or after this time')),
    },
  },
  (ctx: MarketWriteCtx, { seller_id, buyer_reference, changed_since: since, ...filters }, range) => {
    let offers = offersWith(ctx, filters)
    if (seller_id !== undefined) offers = offers.where('seller_id', '=', idForSql(seller_id))
    if (buyer_reference !== undefined) offers = offers.where('buyer_reference', '=', buyer_reference)
    if (since !== undefined) offers = offers.where('changed_at', '>=', momentOf('changed_since', since))
    return pageOf(offers, range, (row) => storedOffer(row, ctx.now()))
  },
)

export const getOffer = verb(
  { name: 'getOffer', needs: 'operator', input: Type.Object({ id: id('offer') }) },
  async ({ db, now }: MarketWriteCtx, input): Promise<StoredOffer> => storedOffer(await findOffer(db.kysely, input.id), now()),
)
