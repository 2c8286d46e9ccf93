// Mutations of own listings (interface.md, "GraphQL").
import { HIGHEST_PRICE, LONGEST_DESCRIPTION, LONGEST_SKU, LONGEST_TITLE, LOWEST_PRICE } from '#market/fields.ts'
import { STATUSES } from '#market/rules.ts'
import { setListingStatus } from '#market/set-listing-status.ts'
import { updateListing } from '#market/update-listing.ts'
import { updateListingPrice } from '#market/update-listing-price.ts'
import type { ListingResult } from '#market/types.ts'
import { idOf } from './arguments.ts'
import type { Builder } from './builder.ts'
import { callByFields } from './mutating.ts'

const PRICE = `In TL, ${LOWEST_PRICE} to ${HIGHEST_PRICE}.`

const pathOf = (args: { listingId: string | number }) => ({ id: ['listingId', idOf(args.listingId)] }) as const

export function implementListingMutations(builder: Builder): void {
  const input = builder.inputType('ListingInput', {
    description: 'Fields of a listing. What is not sent stays as it is.',
    fields: (t) => ({
      price: t.float({ description: PRICE }),
      quantity: t.int({ description: 'Units in stock; 0 hides the listing until there are some again.' }),
      sku: t.string({ description: `Your own stock-keeping unit, unique among your listings, at most ${LONGEST_SKU} characters; null for none.` }),
      title: t.string({ description: `At most ${LONGEST_TITLE} characters.` }),
      description: t.string({ description: `At most ${LONGEST_DESCRIPTION} characters.` }),
      offersEnabled: t.boolean({ description: 'Whether buyers may offer another price.' }),
      minOfferPrice: t.float({ description: 'Lowest acceptable offer, at most the price; null for none.' }),
    }),
  })
  const result = builder.objectRef<ListingResult>('ListingResult').implement({
    description: 'A listing after a change.',
    fields: (t) => ({
      success: t.boolean({ nullable: false, description: 'Always true: a failing mutation gives null and an error.', resolve: () => true }),
      message: t.exposeString('message', { description: 'What was done, for people.' }),
      id: t.id({ nullable: false, description: 'Id of the listing.', resolve: ({ id }) => id }),
      price: t.exposeFloat('price', { nullable: false, description: 'In TL.' }),
      status: t.exposeString('status', { nullable: false, description: `${STATUSES.slice(0, -1).join(', ')} or ${STATUSES.at(-1)}.` }),
    }),
  })
  builder.mutationFields((t) => {
    const listingId = t.arg.id({ required: true, description: 'Id of one of your listings.' })
    return {
      updateListingPrice: t.field({
        type: result,
        description: 'Changes the price; the listing does not go back to approval.',
        args: { listingId, price: t.arg.float({ required: true, description: PRICE }) },
        resolve: (_root, args, ctx, info) => callByFields(updateListingPrice, ctx, info, { price: args.price }, pathOf(args)),
      }),
      updateListing: t.field({
        type: result,
        description: 'Changes the fields sent; any but price, quantity and SKU sends the listing to approval.',
        args: { listingId, input: t.arg({ type: input, required: true, description: 'What changes.' }) },
        resolve: (_root, args, ctx, info) => callByFields(updateListing, ctx, info, args.input, pathOf(args)),
      }),
      setListingStatus: t.field({
        type: result,
        description: 'Pauses or publishes a listing; what comes of `publish` is in `status`.',
        args: { listingId, action: t.arg.string({ required: true, description: '`pause` or `publish`.' }) },
        resolve: (_root, args, ctx, info) => callByFields(setListingStatus, ctx, info, { action: args.action }, pathOf(args)),
      }),
    }
  })
}
