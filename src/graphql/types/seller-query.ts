// Query.payoutPreview and Query.listingVisibility, as under /plus/payout-preview and /plus/listings/{id}/visibility over REST.
import { OPERATION_PLAN } from '#core/plans.ts'
import { previewPayout } from '#market/seller/preview-payout.ts'
import { ListingVisibilitySchema, PayoutPreviewSchema } from '#market/marketplace-types.ts'
import { readListingVisibility } from '#market/visibility/read-listing-visibility.ts'
import { idOf, withoutNulls } from '../building/arguments.ts'
import { type Builder, cost, fromDatabase, requiresPlan } from '../building/builder.ts'
import { argumentsFrom, objectFrom } from '../building/from-schema.ts'
import { callByFields } from './mutating.ts'
import { nullIfMissing } from './query.ts'

/** Read with the caller's context: the market's settings are not part of the shared context of queries. */
const PREVIEW = { ...fromDatabase, ...requiresPlan(OPERATION_PLAN.previewPayout) }
const VISIBILITY_READ = { ...cost({ weight: 10 }), ...fromDatabase, ...requiresPlan(OPERATION_PLAN.readListingVisibility) }

export function implementSellerQueries(builder: Builder): void {
  const preview = objectFrom(builder, PayoutPreviewSchema)
  const visibility = objectFrom(builder, ListingVisibilitySchema, { entries: { reasons: 2 } })
  builder.queryFields((t) => ({
    payoutPreview: t.field({
      type: preview,
      description: 'Calculates your payout for a price, or the lowest price for a payout; give exactly one of the two. Plus and above.',
      extensions: PREVIEW,
      args: argumentsFrom(t.arg, previewPayout.input),
      resolve: (_root, args, ctx, info) => callByFields(previewPayout, ctx, info, withoutNulls(args)),
    }),
    listingVisibility: t.field({
      type: visibility,
      description: 'Why buyers cannot find one of your listings; null if you have no listing with this id. Plus and above.',
      extensions: VISIBILITY_READ,
      args: { listingId: t.arg.id({ required: true, description: 'Id of one of your listings.' }) },
      resolve: (_root, { listingId }, ctx, info) =>
        callByFields(readListingVisibility, ctx, info, {}, { id: ['listingId', idOf(listingId)] }).catch(nullIfMissing),
    }),
  }))
}
