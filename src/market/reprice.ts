// A new price for an own listing, alone: approval and status stay. Prices submitted at the same time commit as one batch.
import { missing } from '#core/fields.ts'
import { minorToNumber } from '#core/money.ts'
import { requireCurrent } from '#core/precondition.ts'
import { change } from '#db/change.ts'
import { AGAIN, committingTogether } from '#db/commit-together.ts'
import type { Db } from '#db/schema.ts'
import { checkOffer } from './fields.ts'
import { statusOf } from './move.ts'
import { type NewPrice, pricedListings, type PricedListing, writePrices } from './price-store.ts'
import { statusAt, TABLE } from './rules.ts'
import { checkOwner, listingTag, lockListing, minOfferKurus } from './store.ts'
import type { ListingResult, MarketCtx } from './types.ts'

interface PriceWrite {
  ctx: Pick<MarketCtx, 'viewer' | 'requestId' | 'precondition' | 'now' | 'caughtUp'>
  id: number
  kurus: number
}

interface Refused {
  refused: unknown
}

const submit = committingTogether<PriceWrite, ListingResult | Refused>({ keyOf: ({ id }) => id, commit: writeAllowed })

/**
 * Resolves when the price is durable and this node has applied it.
 * @throws why it is refused: not the owner's, not as the caller read it, sold, or below the lowest offer
 */
export async function repriceListing(ctx: MarketCtx, id: number, kurus: number): Promise<ListingResult> {
  if (ctx.idempotency) return repriceOnce({ ctx, id, kurus })
  const outcome = await submit(ctx.db, { ctx, id, kurus })
  if ('refused' in outcome) throw outcome.refused
  return outcome
}

/** Commits alone: the price and the result for a repeated request belong to one transaction. */
function repriceOnce({ ctx, id, kurus }: PriceWrite & { ctx: MarketCtx }): Promise<ListingResult> {
  return change(ctx, async (tx) => {
    const now = ctx.now()
    const price = judge({ ctx, id, kurus }, await lockListing(tx, id), now)
    await writePrices(tx, [price], now)
    return resultOf(price)
  })
}

/**
 * Judges each price by its listing as it is read, without a lock, and writes those that are allowed where the listing is
 * still the same. Where it is not, the price is judged anew.
 */
async function writeAllowed(db: Db, writes: PriceWrite[]): Promise<(ListingResult | Refused | typeof AGAIN)[]> {
  const { now, caughtUp } = writes[0]!.ctx
  const moment = now()
  const listings = await pricedListings(db.kysely, writes.map(({ id }) => id))
  const allowed = new Map<number, NewPrice>()
  const judged = writes.map((write) => {
    // The second price of a listing comes after the first.
    if (allowed.has(write.id)) return AGAIN
    try {
      const price = judge(write, listings.get(write.id), moment)
      allowed.set(write.id, price)
      return price
    } catch (error) {
      return { refused: error }
    }
  })
  const written = await writePrices(db.kysely, [...allowed.values()], moment)
  if (written.size > 0) await caughtUp().catch(() => {})
  return judged.map((price) => {
    if (price === AGAIN || 'refused' in price) return price
    return written.has(price.listing.id) ? resultOf(price) : AGAIN
  })
}

function judge({ ctx, id, kurus }: PriceWrite, listing: PricedListing | undefined, now: Date): NewPrice {
  if (!listing) throw missing('listing', id)
  checkOwner(listing, ctx.viewer)
  requireCurrent(ctx, listingTag(listing))
  const status = statusOf(TABLE[statusAt(listing.status, listing.expires_at, now)].reprice)
  checkOffer('price', kurus, minOfferKurus(listing))
  return { listing, kurus, status, by: ctx }
}

function resultOf({ listing: { id, version }, kurus, status }: NewPrice): ListingResult {
  const etag = listingTag({ id, version: version + 1 })
  return { message: 'The price is changed', id, price: minorToNumber(kurus), status, etag }
}
