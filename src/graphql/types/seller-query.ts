// Query.payoutPreview and Query.listingVisibility, as under /plus/payout-preview and /plus/listings/{id}/visibility over REST.
import { OPERATION_PLAN } from '#core/plans.ts'
import { previewPayout } from '#market/seller/preview-payout.ts'
import { readListingVisibility } from '#market/visibility/read-listing-visibility.ts'
import type { ListingVisibility, PayoutPreview } from '#market/types.ts'
import { idOf, withoutNulls } from '../building/arguments.ts'
import { type Builder, cost, fromDatabase, requiresPlan } from '../building/builder.ts'
import { callByFields } from './mutating.ts'
import { nullIfMissing } from './query.ts'

/** Read with the caller's context: the market's settings are not part of the shared context of queries. */
const PREVIEW = { ...fromDatabase, ...requiresPlan(OPERATION_PLAN.previewPayout) }
const VISIBILITY_READ = { ...cost({ weight: 10 }), ...fromDatabase, ...requiresPlan(OPERATION_PLAN.readListingVisibility) }

export function implementSellerQueries(builder: Builder): void {
  const preview = builder.objectRef<PayoutPreview>('PayoutPreview').implement({
    description: 'Payout of one unit.',
    fields: (t) => ({
      price: t.exposeFloat('price', { nullable: false, description: 'Per unit, in TL.' }),
      commission: t.exposeFloat('commission', { nullable: false, description: 'Commission, in TL.' }),
      payout: t.exposeFloat('payout', { nullable: false, description: 'Payout to the seller, in TL.' }),
    }),
  })
  const cause = builder.objectRef<ListingVisibility['reasons'][number]>('VisibilityReason').implement({
    description: 'A reason a listing is hidden from buyers.',
    fields: (t) => ({
      code: t.exposeString('code', {
        nullable: false,
        description: '`pending`, `paused`, `rejected`, `expired`, `sold`, `no_stock`, `vacation` or `account_suspended`.',
      }),
      since: t.exposeString('since', { nullable: true, description: 'Local time with offset; null if it was not recorded.' }),
      whatToDo: t.exposeString('what_to_do', { nullable: false, description: 'Human-readable message.' }),
      rejectionReason: t.exposeString('rejection_reason', {
        nullable: true,
        description: 'Reason written by the operator; only with the code `rejected`.',
      }),
    }),
  })
  const visibility = builder.objectRef<ListingVisibility>('ListingVisibility').implement({
    description: 'Whether buyers can find a listing, and why not.',
    fields: (t) => ({
      visible: t.exposeBoolean('visible', { nullable: false, description: 'Whether a search can find it.' }),
      reasons: t.field({
        type: [cause],
        nullable: { list: false, items: false },
        description: 'Empty if the listing is visible.',
        extensions: cost({ entries: 2 }),
        resolve: (of) => of.reasons,
      }),
    }),
  })
  builder.queryFields((t) => ({
    payoutPreview: t.field({
      type: preview,
      description: 'Calculates your payout for a price, or the lowest price for a payout; give exactly one of the two. Plus and above.',
      extensions: PREVIEW,
      args: {
        price: t.arg.float({ description: 'Price of one unit, in TL.' }),
        net: t.arg.float({ description: 'Minimum payout of the sale, in TL.' }),
      },
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
