// Listings in queries, as under /plus/listings/{id} over REST.
import type { GraphQLResolveInfo } from 'graphql'
import { type Static, Type } from '#core/input.ts'
import { call } from '#core/verb.ts'
import { getListing } from '#market/listings/get-listing.ts'
import { ListingExplanationSchema } from '#market/snapshot/explain-listing.ts'
import { FoundListingSchema, OwnListingSchema } from '#market/marketplace-types.ts'
import { idOf } from '../building/arguments.ts'
import { type Builder, cost, fromDatabase, type Refs, requiresPlan } from '../building/builder.ts'
import { objectFrom } from '../building/from-schema.ts'
import { collectFields } from '../execution/collect.ts'
import type { GraphqlCtx } from '../execution/context.ts'
import { itemSource } from '../execution/item-source.ts'

/** Fields that only own listings have. */
const OWN = ['status', 'approved_price', 'description', 'min_offer_price', 'rejection_reason', 'sku', 'changed_by', 'etag'] as const

/** Another account's listing, or one's own. */
const ListingSchema = Type.Object(
  { ...FoundListingSchema.properties, ...Type.Partial(Type.Pick(OwnListingSchema, OWN)).properties },
  {
    title: 'Listing',
    description: `A published listing, or one of your own in any status. Times are local, with offset. Only your own listings have ${OWN.map((name) => `\`${name}\``).join(', ')}`,
  },
)
type AnyListing = Static<typeof ListingSchema>

/** A separate read. */
export const LISTING_READ = { ...cost({ weight: 10 }), ...fromDatabase, ...requiresPlan('plus') }

/** Reads the listing with the requested fields. @throws NOT_FOUND, VALIDATION_ERROR as over REST */
export function listingOf(id: string | number, ctx: GraphqlCtx, info: GraphQLResolveInfo): Promise<AnyListing> {
  const fields = requestedFields(info)
  return call(getListing, ctx, {
    id: idOf(id),
    with_details: true,
    with_item: fields.has('item'),
    with_pc: fields.has('pcMultiplier'),
    with_average: fields.has('averagePrice'),
    with_last_sales: fields.has('lastSales'),
    with_explain: fields.has('explain'),
  }) as Promise<AnyListing>
}

/** Names of the requested fields below a field. */
function requestedFields({ fieldNodes, fragments, variableValues }: GraphQLResolveInfo): Set<string> {
  const sets = fieldNodes.flatMap(({ selectionSet }) => selectionSet ?? [])
  const fields = collectFields(sets, new Map(Object.entries(fragments)), variableValues.coerced)
  return new Set([...fields.values()].flat().map(({ name }) => name.value))
}

export function addListingType(builder: Builder, refs: Refs) {
  objectFrom(builder, ListingExplanationSchema.properties.pc_multiplier, { entries: { inputs: 5 } })
  const listing = objectFrom(builder, ListingSchema, { omit: ['item'], entries: { last_sales: 10, images: 3 } })
  builder.objectField(listing, 'item', (t) =>
    t.field({
      type: refs.item,
      description: 'Item being sold.',
      resolve: ({ item }, _args, { catalogue }) => {
        const row = item ? catalogue.items.rowOf(item.id) : -1
        return row < 0 ? null : itemSource(row)
      },
    }),
  )
  return listing
}
