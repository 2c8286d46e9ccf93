// Mutations of own listings (interface.md, "GraphQL").
import { addListing, LISTING_CREATED } from '#market/intake/add-listing.ts'
import { listRecords, MAX_LISTED_RECORDS, RecordRow } from '#market/intake/list-records.ts'
import { type Renewal, RenewedListingSchema, renewListings } from '#market/listings/renew-listings.ts'
import { setListingStatus } from '#market/listings/set-listing-status.ts'
import { updateListing } from '#market/listings/update-listing.ts'
import { updateListingPrice } from '#market/listings/update-listing-price.ts'
import { MAX_PRICE, MIN_PRICE } from '#market/records/fields.ts'
import { STATUSES } from '#market/records/rules.ts'
import { ForecastSchema, type ListingResult } from '#market/marketplace-types.ts'
import { idOf, withoutNulls } from '../building/arguments.ts'
import { type Builder, cost } from '../building/builder.ts'
import { argumentsFrom, inputFrom, objectFrom } from '../building/from-schema.ts'
import { camelCase } from '../execution/errors.ts'
import { certificateInput } from '../building/certificate-input.ts'
import { callByFields } from './mutating.ts'
import { priceWarningType, reasonType, successField } from './results.ts'

const PRICE = `In TL, ${MIN_PRICE} to ${MAX_PRICE}.`
const IMAGES = { images: 'Addresses of pictures, in this order' }

interface ListingArgs {
  listingId: string | number
}

const pathOf = ({ listingId }: ListingArgs) => ({ id: ['listingId', idOf(listingId)] }) as const

export function implementListingMutations(builder: Builder): void {
  const certificate = certificateInput(builder)
  const input = inputFrom(builder, updateListing.input, {
    name: 'ListingInput',
    description: 'Fields of a listing. Omitted fields stay unchanged.',
    omit: ['id', 'shipping_payer'],
    types: { certificate },
    texts: IMAGES,
  })
  const forecast = addForecast(builder)
  const result = builder.objectRef<ListingResult>('ListingResult').implement({
    description: 'A listing after a change.',
    fields: (t) => ({
      success: successField(t),
      message: t.exposeString('message', { description: 'Human-readable message.' }),
      id: t.id({ nullable: false, description: 'Id of the listing.', resolve: ({ id }) => id }),
      price: t.exposeFloat('price', { nullable: false, description: 'In TL.' }),
      forecast: t.field({ type: forecast, description: 'Only with `dryRun`, which changes nothing.', resolve: (one) => one.forecast }),
      status: t.exposeString('status', { nullable: false, description: `${STATUSES.slice(0, -1).join(', ')} or ${STATUSES.at(-1)}.` }),
    }),
  })
  const recordRow = inputFrom(builder, RecordRow, { name: 'ListedRecordInput', description: 'Copies of a record to sell.', texts: IMAGES })
  const newListing = addNewListing(builder, certificate)
  addRenewal(builder)
  builder.mutationFields((t) => {
    const listingId = t.arg.id({ required: true, description: 'Id of one of your listings.' })
    return {
      createListing: t.field({
        type: result,
        description: 'Creates a listing, pending approval, for accounts that may import listings.',
        args: { input: t.arg({ type: newListing, required: true, description: 'Fields of the listing.' }) },
        resolve: async (_root, args, ctx, info) => ({ ...(await callByFields(addListing, ctx, info, args.input)), message: LISTING_CREATED }),
      }),
      listCollectionRecords: t.field({
        type: [result],
        nullable: { list: true, items: false },
        description: 'Makes listings of records, pending approval: all or none. Sales take their copies out of the records.',
        args: {
          collectionId: t.arg.id({ required: true, description: 'Id of one of your collections.' }),
          rows: t.arg({ type: [recordRow], required: true, description: `At most ${MAX_LISTED_RECORDS}.` }),
        },
        resolve: async (_root, { collectionId, rows }, ctx, info) => {
          const listings = await callByFields(listRecords, ctx, info, { rows }, { id: ['collectionId', idOf(collectionId)] })
          return listings.map((listing) => ({ ...listing, message: LISTING_CREATED }))
        },
      }),
      updateListingPrice: t.field({
        type: result,
        description: 'Changes the price; the listing needs no new approval.',
        args: { listingId, price: t.arg.float({ required: true, description: PRICE }) },
        resolve: (_root, args, ctx, info) => callByFields(updateListingPrice, ctx, info, { price: args.price }, pathOf(args)),
      }),
      updateListing: t.field({
        type: result,
        description: 'Changes the given fields; any field other than price, quantity and SKU requires a new approval.',
        args: { listingId, input: t.arg({ type: input, required: true, description: 'Fields to change.' }) },
        resolve: (_root, args, ctx, info) => callByFields(updateListing, ctx, info, args.input, pathOf(args)),
      }),
      setListingStatus: t.field({
        type: result,
        description: 'Pauses or publishes a listing; `status` is the result of `publish`.',
        args: { listingId, action: t.arg.string({ required: true, description: '`pause` or `publish`.' }) },
        resolve: (_root, args, ctx, info) => callByFields(setListingStatus, ctx, info, { action: args.action }, pathOf(args)),
      }),
    }
  })
}

function addNewListing(builder: Builder, certificate: ReturnType<typeof certificateInput>) {
  return inputFrom(builder, addListing.input, {
    name: 'NewListingInput',
    description: 'Fields of a new listing: `itemId`, `card` or `certificate`, and `price`.',
    types: {
      certificate,
      card: inputFrom(builder, addListing.input.properties.card, { name: 'ListedCardInput', description: 'A card by set and number.' }),
    },
    texts: IMAGES,
  })
}

function addForecast(builder: Builder) {
  const warnings = priceWarningType(builder)
  const forecast = objectFrom(builder, ForecastSchema, { omit: ['because'], types: { warnings }, entries: { warnings: 3 } })
  builder.objectField(forecast, 'because', (t) =>
    t.stringList({
      nullable: false,
      description: 'Fields that require approval.',
      extensions: cost({ entries: 6 }),
      resolve: ({ because }) => because.map(camelCase),
    }),
  )
  return forecast
}

function addRenewal(builder: Builder): void {
  const refused = reasonType(builder, 'RenewalRefusal', 'Why a listing was not renewed.')
  const renewed = objectFrom(builder, RenewedListingSchema, { types: { refused } })
  const result = builder.objectRef<Renewal>('RenewalResult').implement({
    description: 'Listings after a renewal.',
    fields: (t) => ({
      message: t.exposeString('message', { nullable: false, description: 'Human-readable message.' }),
      listings: t.field({
        type: [renewed],
        nullable: { list: false, items: false },
        description: 'In the order of the ids, or by end of period.',
        resolve: ({ listings }) => listings,
      }),
      more: t.exposeBoolean('more', { nullable: false, description: 'Whether more listings end within the requested days.' }),
    }),
  })
  builder.mutationField('renewListings', (t) =>
    t.field({
      type: result,
      description: 'Starts a new publication period for the given listings, or for those that end soon. Refused listings are reported by id.',
      args: argumentsFrom(t.arg, renewListings.input),
      resolve: (_root, args, ctx, info) => callByFields(renewListings, ctx, info, withoutNulls(args)),
    }),
  )
}
