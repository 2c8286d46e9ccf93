// A new price for an own listing, alone: approval and status stay.
import type { Viewer } from '#core/verb.ts'
import { change } from '#db/change.ts'
import { checkOffer } from './fields.ts'
import { endedIfOver } from './expire-listings.ts'
import { moved } from './move.ts'
import { statusAt } from './rules.ts'
import { checkOwner, kurusOfRow, kurusText, type ListingRow, listingTag, lockOwnListing, minOfferKurus, updateListingRow } from './store.ts'
import type { ListingResult, MarketCtx } from './types.ts'

/** Action of the audit log. */
export const REPRICE = 'listing.reprice'

/**
 * Writes together with all other price changes that wait (price-writes.ts). One that asks for a certain version has to
 * see the listing before, and goes by itself.
 */
export function repriceListing(ctx: MarketCtx, id: number, kurus: number): Promise<ListingResult> {
  if (ctx.precondition) return repriceAlone(ctx, id, kurus)
  return ctx.priceWrites.submit({ viewer: ctx.viewer, requestId: ctx.requestId, id, kurus })
}

function repriceAlone(ctx: MarketCtx, id: number, kurus: number): Promise<ListingResult> {
  return change(ctx, async (tx, note) => {
    const before = await endedIfOver(tx, note, ctx, await lockOwnListing(tx, ctx, id))
    checkReprice(before, ctx.viewer, kurus, ctx.now())
    const price = kurusText(kurus)!
    const after = await updateListingRow(tx, id, { price, ...(before.status === 'active' && { approved_price: price }) }, ctx.now())
    note.audit({ action: REPRICE, subject: 'listing', id, before: { price: kurusOfRow(before) / 100 }, after: { price: kurus / 100 } })
    note.changed('listings', [id])
    return repriced(after, ctx.now())
  })
}

/** @throws why this price is refused: not the owner's, sold, or below the lowest offer */
export function checkReprice(row: ListingRow, viewer: Viewer, kurus: number, now: Date): void {
  checkOwner(row, viewer)
  moved(row, 'reprice', now)
  checkOffer('price', kurus, minOfferKurus(row))
}

export function repriced(row: Pick<ListingRow, 'id' | 'price' | 'status' | 'expires_at' | 'version'>, now: Date): ListingResult {
  const status = statusAt(row.status, row.expires_at, now)
  return { message: 'The price is changed', id: row.id, price: Number(row.price), status, etag: listingTag(row) }
}

