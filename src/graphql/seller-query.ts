// Query.payoutPreview and Query.listingVisibility: what REST answers under /plus/payout-preview and /plus/listings/{id}/visibility.
import { OPERATION_PLAN } from '#core/plans.ts'
import { previewPayout } from '#market/preview-payout.ts'
import { readListingVisibility } from '#market/read-listing-visibility.ts'
import type { ListingVisibility, PayoutPreview } from '#market/types.ts'
import { idOf, sent } from './arguments.ts'
import { type Builder, cost, fromDatabase, needing } from './builder.ts'
import { callByFields } from './mutating.ts'
import { nullIfMissing } from './query.ts'

/** Read with the caller's context: the settings of the market are not part of what queries share. */
const PREVIEW = { ...fromDatabase, ...needing(OPERATION_PLAN.previewPayout) }
const VISIBILITY_READ = { ...cost({ weight: 10 }), ...fromDatabase, ...needing(OPERATION_PLAN.readListingVisibility) }

export function implementSellerQueries(builder: Builder): void {
  const preview = builder.objectRef<PayoutPreview>('PayoutPreview').implement({
    description: 'What a sale of one unit would pay.',
    fields: (t) => ({
      price: t.exposeFloat('price', { nullable: false, description: 'Of one unit, in TL.' }),
      commission: t.exposeFloat('commission', { nullable: false, description: 'What the marketplace keeps, in TL.' }),
      payout: t.exposeFloat('payout', { nullable: false, description: 'What the seller gets, in TL.' }),
    }),
  })
  const cause = builder.objectRef<ListingVisibility['reasons'][number]>('VisibilityReason').implement({
    description: 'Something that hides a listing from buyers.',
    fields: (t) => ({
      code: t.exposeString('code', {
        nullable: false,
        description: '`pending`, `paused`, `rejected`, `expired`, `sold`, `no_stock`, `vacation` or `account_suspended`.',
      }),
      since: t.exposeString('since', { nullable: true, description: 'Local time with offset; null where it is not recorded.' }),
      whatToDo: t.exposeString('what_to_do', { nullable: false, description: 'For people.' }),
      rejectionReason: t.exposeString('rejection_reason', { nullable: true, description: 'Of the code `rejected`: what the operator wrote.' }),
    }),
  })
  const visibility = builder.objectRef<ListingVisibility>('ListingVisibility').implement({
    description: 'Whether buyers find a listing, and why not.',
    fields: (t) => ({
      visible: t.exposeBoolean('visible', { nullable: false, description: 'Whether a search can find it.' }),
      reasons: t.field({
        type: [cause],
        nullable: { list: false, items: false },
        description: 'Empty when it is visible.',
        extensions: cost({ entries: 2 }),
        resolve: (of) => of.reasons,
      }),
    }),
  })
  builder.queryFields((t) => ({
    payoutPreview: t.field({
      type: preview,
      description: 'What a sale would pay you: of a price, or of the smallest price that pays an amount; exactly one of both. Plus and above.',
      extensions: PREVIEW,
      args: {
        price: t.arg.float({ description: 'Price of one unit, in TL.' }),
        net: t.arg.float({ description: 'What the sale has to pay at least, in TL.' }),
      },
      resolve: (_root, args, ctx, info) => callByFields(previewPayout, ctx, info, sent(args)),
    }),
    listingVisibility: t.field({
      type: visibility,
      description: 'Why buyers do not find one of your listings; null where you have none with this id. Plus and above.',
      extensions: VISIBILITY_READ,
      args: { listingId: t.arg.id({ required: true, description: 'Id of one of your listings.' }) },
      resolve: (_root, { listingId }, ctx, info) =>
        callByFields(readListingVisibility, ctx, info, {}, { id: ['listingId', idOf(listingId)] }).catch(nullIfMissing),
    }),
  }))
}
