// A stored listing as clients see it: all fields if it is their own, and the details that `with_details` adds to any listing.
import { minorToNumber } from '#core/money.ts'
import { localTime } from '#core/time.ts'
import { listingSlug } from '../records/fields.ts'
import { statusAt } from '../records/rules.ts'
import type { Flags } from '../snapshot/listing-json.ts'
import { type DetailsRow, type ListingRow, listingTag } from '../listing-store.ts'
import { amountOrNull, kurusOfRow } from '../listing-content.ts'
import type { ListingDetails, MarketCtx, MarketNode, OwnListing } from '../marketplace-types.ts'

/** The caller's own listing with the fields that the flags request. */
export function ownListing(ctx: Pick<MarketCtx, 'listings' | 'market' | 'now'>, row: ListingRow, flags: Flags): OwnListing {
  const kurus = kurusOfRow(row)
  const local = (at: Date) => localTime(at, ctx.market.timeZone)
  const { grade, ...details } = detailsOf(ctx, row)
  return {
    id: row.id,
    title: row.title,
    slug: listingSlug(row.title, row.id),
    price: minorToNumber(kurus),
    status: statusAt(row.status, row.expires_at, ctx.now()),
    approved_price: amountOrNull(row.approved_price),
    description: row.description,
    ...details,
    min_offer_price: amountOrNull(row.min_offer_price),
    item_id: row.item_id,
    grade_id: row.grade_id,
    rejection_reason: row.rejection_reason,
    sku: row.sku,
    record_id: row.record_id,
    changed_by: row.changed_by && { ...row.changed_by, at: local(new Date(row.changed_by.at)) },
    created_at: local(row.created_at),
    updated_at: local(row.updated_at),
    etag: listingTag(row),
    ...ctx.listings.extrasOf({ item_id: row.item_id, label_id: row.label_id, kurus }, flags),
    ...(flags.details && { grade }),
  } as OwnListing
}

/** Fields for a shop page, in addition to title and price. */
export function detailsOf({ listings, market }: Pick<MarketNode, 'listings' | 'market'>, row: DetailsRow): ListingDetails {
  const local = (at: Date | null) => (at === null ? null : localTime(at, market.timeZone))
  return {
    grade: listings.gradeOf(row.grade_id),
    language: row.language,
    quantity: row.quantity,
    images: row.images,
    certificate: row.certificate,
    shipping_payer: row.shipping_payer,
    offers_enabled: row.offers_enabled,
    highlighted_until: local(row.highlighted_until),
    published_at: local(row.published_at),
    expires_at: local(row.expires_at),
  }
}
