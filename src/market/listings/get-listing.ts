// Returns a published listing, or one of the caller's own in any status.
import { id, missing } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import { FlagParams, flagsOf } from './listing-flags.ts'
import { listingSlug } from '../records/fields.ts'
import { detailsOf, ownListing } from './own-listing.ts'
import { findListing } from '../listing-store.ts'
import { kurusOfRow } from '../listing-content.ts'
import type { FoundListing, MarketCtx, OwnListing } from '../marketplace-types.ts'

export const getListing = verb(
  {
    name: 'getListing',
    needs: OPERATION_PLAN.getListing,
    input: Type.Object({ id: id('listing'), ...FlagParams }),
  },
  async (ctx: MarketCtx, input): Promise<FoundListing | OwnListing> => {
    const { viewer, listings } = ctx
    const row = await findListing(ctx.db.kysely, input.id)
    const isOwn = row !== null && viewer.kind === 'account' && viewer.accountId === row.seller_id
    if (!row || !(isOwn || listings.isPublished(row.id))) throw missing('listing', input.id)
    const flags = flagsOf(input)
    if (isOwn) return ownListing(ctx, row, flags)
    const kurus = kurusOfRow(row)
    return {
      id: row.id,
      title: row.title,
      slug: listingSlug(row.title, row.id),
      price: kurus / 100,
      ...(listings.extrasOf({ item_id: row.item_id, label_id: row.label_id, kurus }, flags) as object),
      ...(flags.details && detailsOf(ctx, row)),
    }
  },
)
