// Listings in queries, as under /plus/listings/{id} over REST.
import type { GraphQLResolveInfo } from 'graphql'
import { call } from '#core/verb.ts'
import { getListing } from '#market/listings/get-listing.ts'
import type { FoundListing, OwnListing } from '#market/types.ts'
import { idOf } from '../building/arguments.ts'
import { type Builder, cost, fromDatabase, requiresPlan, type Refs } from '../building/builder.ts'
import { collectFields } from '../execution/collect.ts'
import type { GraphqlCtx } from '../execution/context.ts'
import { itemSource } from '../execution/item-source.ts'

/** Another account's listing, or one's own. */
export type AnyListing = FoundListing & Partial<OwnListing>
type Explanation = NonNullable<FoundListing['explain']>
type Figure = Explanation['pc_multiplier']
type FigureInput = Figure['inputs'][number]

/** A separate read. */
export const LISTING_READ = { ...cost({ weight: 10 }), ...fromDatabase, ...requiresPlan('plus') }

/** Reads the listing with the requested fields. @throws NOT_FOUND, VALIDATION_ERROR as over REST */
export function listingOf(id: string | number, ctx: GraphqlCtx, info: GraphQLResolveInfo): Promise<AnyListing> {
  const asked = askedFields(info)
  return call(getListing, ctx, {
    id: idOf(id),
    with_details: true,
    with_item: asked.has('item'),
    with_pc: asked.has('pcMultiplier'),
    with_average: asked.has('averagePrice'),
    with_last_sales: asked.has('lastSales'),
    with_explain: asked.has('explain'),
  }) as Promise<AnyListing>
}

/** Names of the requested fields below a field. */
function askedFields({ fieldNodes, fragments, variableValues }: GraphQLResolveInfo): Set<string> {
  const sets = fieldNodes.flatMap(({ selectionSet }) => selectionSet ?? [])
  const fields = collectFields(sets, new Map(Object.entries(fragments)), variableValues.coerced)
  return new Set([...fields.values()].flat().map(({ name }) => name.value))
}

export function addListingType(builder: Builder, refs: Refs) {
  const grade = builder.objectRef<NonNullable<AnyListing['grade']>>('ListingGrade').implement({
    description: 'Condition or grade of a listing.',
    fields: (t) => ({
      id: t.exposeID('id', { nullable: false, description: 'Unique id; see `groups`.' }),
      label: t.exposeString('label', { nullable: false, description: 'Such as `Near Mint` or `PSA 10`.' }),
    }),
  })
  const image = builder.objectRef<OwnListing['images'][number]>('ListingImage').implement({
    description: 'An image of the listing.',
    fields: (t) => ({
      url: t.exposeString('url', { nullable: false, description: 'URL of the image.' }),
      order: t.exposeInt('order', { nullable: false, description: 'Position among the images of the listing.' }),
    }),
  })
  const sale = builder.objectRef<NonNullable<FoundListing['last_sales']>[number]>('ItemSale').implement({
    description: 'A sale of an item on this marketplace.',
    fields: (t) => ({
      price: t.exposeFloat('price', { nullable: false, description: 'Per unit, in TL.' }),
      soldAt: t.exposeString('sold_at', { nullable: false, description: 'Local time with offset.' }),
    }),
  })
  const changedBy = builder.objectRef<NonNullable<OwnListing['changed_by']>>('ListingChangedBy').implement({
    description: 'The job or rule that last set price or quantity of a listing.',
    fields: (t) => ({
      kind: t.exposeString('kind', { nullable: false, description: '`price_job` or `repricing_rule`.' }),
      id: t.exposeID('id', { nullable: false, description: 'Id of the job or rule.' }),
      at: t.exposeString('at', { nullable: false, description: 'Local time with offset.' }),
    }),
  })
  const explanation = addExplanationType(builder)
  return builder.objectRef<AnyListing>('Listing').implement({
    description: 'A published listing, or one of your own in any status. Times are local, with offset.',
    fields: (t) => ({
      id: t.exposeID('id', { nullable: false, description: 'Unique id.' }),
      title: t.exposeString('title', { nullable: false, description: 'Title given by the seller.' }),
      slug: t.exposeString('slug', { nullable: false, description: 'URL-friendly, ends with the id.' }),
      price: t.exposeFloat('price', { nullable: false, description: 'In TL.' }),
      item: t.field({
        type: refs.item,
        description: 'Item being sold.',
        resolve: ({ item }, _args, { catalogue }) => {
          const row = item ? catalogue.items.rowOf(item.id) : -1
          return row < 0 ? null : itemSource(row)
        },
      }),
      pcMultiplier: t.exposeFloat('pc_multiplier', { nullable: true, description: 'Price in TL ÷ source_a price of the same item and grade.' }),
      averagePrice: t.exposeFloat('average_price', { nullable: true, description: 'Mean of the last 10 sales of the item.' }),
      lastSales: t.field({
        type: [sale],
        description: 'The last 10 sales of the item, newest first.',
        extensions: cost({ entries: 10 }),
        resolve: (one) => one.last_sales,
      }),
      explain: t.field({
        type: explanation,
        description: 'Rules and inputs of `pcMultiplier` and `averagePrice`.',
        resolve: (one) => one.explain,
      }),
      grade: t.field({ type: grade, description: 'null if none was stated.', resolve: (one) => one.grade }),
      language: t.exposeString('language', { nullable: true, description: 'Such as `en` or `ja`.' }),
      quantity: t.exposeInt('quantity', { nullable: true, description: 'Units in stock.' }),
      images: t.field({ type: [image], description: 'In display order.', extensions: cost({ entries: 3 }), resolve: (one) => one.images }),
      shippingPayer: t.exposeString('shipping_payer', { nullable: true, description: '`buyer` or `seller`.' }),
      offersEnabled: t.exposeBoolean('offers_enabled', { nullable: true, description: 'Whether buyers may offer a different price.' }),
      highlightedUntil: t.exposeString('highlighted_until', {
        nullable: true,
        description: 'End of the highlight; null if it was never highlighted.',
      }),
      publishedAt: t.exposeString('published_at', { nullable: true, description: 'Start of its publication period.' }),
      expiresAt: t.exposeString('expires_at', { nullable: true, description: 'End of its publication period.' }),
      status: t.exposeString('status', { nullable: true, description: 'Own listings only; null otherwise.' }),
      approvedPrice: t.exposeFloat('approved_price', { nullable: true, description: 'Own listings only.' }),
      description: t.exposeString('description', { nullable: true, description: 'Own listings only.' }),
      minOfferPrice: t.exposeFloat('min_offer_price', { nullable: true, description: 'Lowest acceptable offer; own listings only.' }),
      rejectionReason: t.exposeString('rejection_reason', { nullable: true, description: 'Rejection reason; own listings only.' }),
      sku: t.exposeString('sku', { nullable: true, description: 'Your stock-keeping unit; own listings only.' }),
      changedBy: t.field({
        type: changedBy,
        description: 'Job or rule that last set price or quantity; null if a person did. Own listings only.',
        resolve: (one) => one.changed_by,
      }),
      etag: t.exposeString('etag', { nullable: true, description: 'Value for `If-Match` over REST; own listings only.' }),
    }),
  })
}

function addExplanationType(builder: Builder) {
  const rule = builder.objectRef<Figure['rule']>('FigureRule').implement({
    description: 'A rule that computes a figure.',
    fields: (t) => ({
      name: t.exposeString('name', { nullable: false, description: '`price_over_source_a` or `mean_of_last_sales`.' }),
      version: t.exposeInt('version', { nullable: false, description: 'Incremented when the rule changes.' }),
    }),
  })
  const input = builder.objectRef<FigureInput>('FigureInput').implement({
    description: 'An input of a figure.',
    fields: (t) => ({
      kind: t.exposeString('kind', { nullable: false, description: '`listing`, `market` or `sale`.' }),
      market: t.exposeString('market', { nullable: false, description: 'Code of the market.' }),
      amount: t.exposeFloat('amount', { nullable: false, description: 'In `currency`.' }),
      currency: t.exposeString('currency', { nullable: false, description: 'ISO 4217 code.' }),
      at: t.exposeString('at', { nullable: true, description: 'Local time with offset; null for the listing, whose price is current.' }),
      state: t.exposeString('state', { nullable: true, description: 'State of a market price; only trusted prices are used.' }),
      used: t.exposeBoolean('used', { nullable: false, description: 'Whether the figure uses this input.' }),
      reason: t.exposeString('reason', { nullable: false, description: '`compared_price`, `divisor`, `in_mean` or `not_trusted`.' }),
    }),
  })
  const figure = builder.objectRef<Figure>('ComputedFigure').implement({
    description: 'A figure and its inputs.',
    fields: (t) => ({
      result: t.exposeFloat('result', { nullable: true, description: 'null if there are no inputs.' }),
      rule: t.field({ type: rule, nullable: false, description: 'Rule that computes it.', resolve: (one) => one.rule }),
      inputs: t.field({
        type: [input],
        nullable: false,
        description: 'Inputs it is computed from.',
        extensions: cost({ entries: 5 }),
        resolve: (one) => one.inputs,
      }),
    }),
  })
  return builder.objectRef<Explanation>('ListingExplanation').implement({
    description: 'How the computed figures of a listing were derived.',
    fields: (t) => ({
      pcMultiplier: t.field({ type: figure, nullable: false, description: 'Explanation of `pcMultiplier`.', resolve: (one) => one.pc_multiplier }),
      averagePrice: t.field({ type: figure, nullable: false, description: 'Explanation of `averagePrice`.', resolve: (one) => one.average_price }),
    }),
  })
}
