// Mutations of own listings (interface.md, "GraphQL").
import { MAX_PRICE, MAX_DESCRIPTION_LENGTH, MAX_SKU_LENGTH, MAX_TITLE_LENGTH, MIN_PRICE } from '#market/records/fields.ts'
import { STATUSES } from '#market/records/rules.ts'
import { MAX_RENEWED, type Renewal, type RenewedListing, renewListings } from '#market/listings/renew-listings.ts'
import { setListingStatus } from '#market/listings/set-listing-status.ts'
import { updateListing } from '#market/listings/update-listing.ts'
import { updateListingPrice } from '#market/listings/update-listing-price.ts'
import type { Forecast, ListingResult } from '#market/types.ts'
import { idOf, withoutNulls } from '../building/arguments.ts'
import { type Builder, cost } from '../building/builder.ts'
import { camelCase } from '../execution/errors.ts'
import { callByFields } from './mutating.ts'

const PRICE = `In TL, ${MIN_PRICE} to ${MAX_PRICE}.`

interface ListingArgs {
  listingId: string | number
}

const pathOf = ({ listingId }: ListingArgs) => ({ id: ['listingId', idOf(listingId)] }) as const

export function implementListingMutations(builder: Builder): void {
  const input = builder.inputType('ListingInput', {
    description: 'Fields of a listing. Omitted fields stay unchanged.',
    fields: (t) => ({
      price: t.float({ description: PRICE }),
      quantity: t.int({ description: 'Units in stock; 0 hides the listing until it is restocked.' }),
      sku: t.string({ description: `Your own stock-keeping unit, unique among your listings, at most ${MAX_SKU_LENGTH} characters; null for none.` }),
      title: t.string({ description: `At most ${MAX_TITLE_LENGTH} characters.` }),
      description: t.string({ description: `At most ${MAX_DESCRIPTION_LENGTH} characters.` }),
      offersEnabled: t.boolean({ description: 'Whether buyers may offer a different price.' }),
      minOfferPrice: t.float({ description: 'Lowest acceptable offer, at most the price; null for no limit.' }),
    }),
  })
  const forecast = addForecast(builder)
  const result = builder.objectRef<ListingResult>('ListingResult').implement({
    description: 'A listing after a change.',
    fields: (t) => ({
      success: t.boolean({ nullable: false, description: 'Always true: a failed mutation returns null and an error.', resolve: () => true }),
      message: t.exposeString('message', { description: 'Human-readable message.' }),
      id: t.id({ nullable: false, description: 'Id of the listing.', resolve: ({ id }) => id }),
      price: t.exposeFloat('price', { nullable: false, description: 'In TL.' }),
      forecast: t.field({ type: forecast, description: 'Only with `dryRun`, which changes nothing.', resolve: (one) => one.forecast }),
      status: t.exposeString('status', { nullable: false, description: `${STATUSES.slice(0, -1).join(', ')} or ${STATUSES.at(-1)}.` }),
    }),
  })
  addRenewal(builder, forecast)
  builder.mutationFields((t) => {
    const listingId = t.arg.id({ required: true, description: 'Id of one of your listings.' })
    return {
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

function addForecast(builder: Builder) {
  const usualWait = builder.objectRef<Forecast['usual_wait']>('UsualWait').implement({
    description: 'How long listings waited for approval, from the latest 500 decisions of the last 30 days.',
    fields: (t) => ({
      p50Hours: t.exposeFloat('p50_hours', { nullable: true, description: 'Median; null if there were no decisions.' }),
      p90Hours: t.exposeFloat('p90_hours', { nullable: true, description: '90th percentile; null if there were no decisions.' }),
      n: t.exposeInt('n', { nullable: false, description: 'Number of decisions.' }),
    }),
  })
  return builder.objectRef<Forecast>('ListingForecast').implement({
    description: 'Expected result of a change to a listing.',
    fields: (t) => ({
      status: t.exposeString('status', { nullable: false, description: 'Resulting status.' }),
      hidden: t.exposeBoolean('hidden', { nullable: false, description: 'Whether the listing would then be hidden from buyers.' }),
      because: t.stringList({
        nullable: false,
        description: 'Fields that require approval.',
        extensions: cost({ entries: 5 }),
        resolve: ({ because }) => because.map(camelCase),
      }),
      usualWait: t.field({ type: usualWait, nullable: false, description: 'How long approval usually takes.', resolve: (of) => of.usual_wait }),
    }),
  })
}

function addRenewal(builder: Builder, forecast: ReturnType<typeof addForecast>): void {
  const refusal = builder.objectRef<NonNullable<RenewedListing['refused']>>('RenewalRefusal').implement({
    description: 'Why a listing was not renewed.',
    fields: (t) => ({
      message: t.exposeString('message', { nullable: false, description: 'Human-readable message.' }),
      rule: t.exposeString('rule', { description: 'Machine-readable name of the rule.' }),
    }),
  })
  const renewed = builder.objectRef<RenewedListing>('RenewedListing').implement({
    description: 'Result of renewing a listing.',
    fields: (t) => ({
      id: t.id({ nullable: false, description: 'Id of the listing.', resolve: ({ id }) => id }),
      status: t.exposeString('status', { description: '`pending` if it changed since its approval; null if it is not yours.' }),
      expiresAt: t.exposeString('expires_at', { description: 'End of the period, local time with offset.' }),
      refused: t.field({ type: refusal, description: 'null if it was renewed.', resolve: (one) => one.refused }),
      forecast: t.field({
        type: forecast,
        description: 'Only with `dryRun`, which changes nothing; null if it is refused.',
        resolve: (one) => one.forecast,
      }),
    }),
  })
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
      args: {
        ids: t.arg.idList({ description: `Ids of your listings, 1 to ${MAX_RENEWED}.` }),
        endingWithinDays: t.arg.int({ description: 'Instead of `ids`: all listings whose period ends within this many days, 1 to 365.' }),
      },
      resolve: (_root, args, ctx, info) => {
        const { ids, ...others } = withoutNulls(args)
        return callByFields(renewListings, ctx, info, { ...others, ...(ids && { ids: ids.map(idOf) }) })
      },
    }),
  )
}
