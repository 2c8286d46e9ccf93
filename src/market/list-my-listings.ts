// The caller's own listings in every status, newest first (interface.md, "GET /api/v1/plus/my-listings").
import { Type } from '#core/input.ts'
import { minorToNumber } from '#core/money.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { localTime } from '#core/time.ts'
import { verb } from '#core/verb.ts'
import { listingSlug } from './fields.ts'
import { FlagParams, flagsOf } from './listing-flags.ts'
import { STATUSES, statusAt } from './rules.ts'
import type { Flags } from './snapshot/listing-json.ts'
import { amountOrNull, kurusOfRow, type ListingRow, listingTag, pageOfListings } from './store.ts'
import type { MarketCtx, OwnListing } from './types.ts'

export const listMyListings = verb(
  {
    name: 'listMyListings',
    needs: OPERATION_PLAN.listMyListings,
    input: Type.Object({ status: Type.Optional(Type.Enum([...STATUSES])), ...FlagParams, ...pageParams() }, { additionalProperties: false }),
  },
  async (ctx: MarketCtx, input): Promise<Page<OwnListing>> => {
    const sellerId = ctx.viewer.kind === 'account' ? ctx.viewer.accountId : 0
    const own = { seller_id: sellerId, now: ctx.now() }
    const { rows, pagination } = await readPage(input, ({ status }, limit, offset) =>
      pageOfListings(ctx.db.kysely, { ...own, status }, limit, offset),
    )
    const flags = flagsOf(input)
    return { rows: rows.map((row) => ownListing(ctx, row, flags)), pagination }
  },
)

function ownListing({ listings, market, now }: MarketCtx, row: ListingRow, flags: Flags): OwnListing {
  const kurus = kurusOfRow(row)
  const local = (at: Date | null) => (at === null ? null : localTime(at, market.timeZone))
  return {
    id: row.id,
    title: row.title,
    slug: listingSlug(row.title, row.id),
    price: minorToNumber(kurus),
    status: statusAt(row.status, row.expires_at, now()),
    approved_price: amountOrNull(row.approved_price),
    description: row.description,
    quantity: row.quantity,
    language: row.language,
    images: row.images,
    shipping_payer: row.shipping_payer,
    offers_enabled: row.offers_enabled,
    min_offer_price: amountOrNull(row.min_offer_price),
    item_id: row.item_id,
    grade_id: row.grade_id,
    rejection_reason: row.rejection_reason,
    published_at: local(row.published_at),
    expires_at: local(row.expires_at),
    highlighted_until: local(row.highlighted_until),
    created_at: localTime(row.created_at, market.timeZone),
    updated_at: localTime(row.updated_at, market.timeZone),
    etag: listingTag(row),
    ...listings.extrasOf({ item_id: row.item_id, label_id: row.label_id, kurus }, flags),
  } as OwnListing
}
