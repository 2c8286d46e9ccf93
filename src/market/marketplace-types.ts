// Listings, orders and sales as returned by verbs, and the context verbs need.
import type { CatalogueNode } from '#catalogue/context.ts'
import { CertificateSchema } from '#catalogue/certificates/certificate.ts'
import { genre } from '#catalogue/records/fields.ts'
import { orNull } from '#core/fields.ts'
import { ReasonFields, type Static, Type } from '#core/input.ts'
import type { Market } from '#core/markets.ts'
import type { HasPrecondition } from '#core/precondition.ts'
import type { MessageText } from '#core/problem-texts/messages.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'
import { SHIPPING_PAYERS } from './records/fields.ts'
import { STATUSES } from './records/rules.ts'
import { HINDRANCE_CODES } from './records/visibility.ts'
import { ListingExplanationSchema } from './snapshot/explain-listing.ts'
import type { ListingSnapshot } from './snapshot/listings.ts'

/** The operator's settings for the marketplace. */
export interface MarketSettings {
  listingPeriodDays: number
  highlightDays: number
  commissionPercent: number
  /** IANA zone of local times */
  timeZone: string
  sourceCurrencies: Readonly<Record<Market, string>>
  /** order of the markets whose price a listing is compared with */
  marketOrder: readonly Market[]
}

/** The context of writes of listings and orders. */
export interface MarketWriteCtx extends WriteCtx, HasPrecondition {
  market: MarketSettings
}

/** The context of writes that can be forecast: prices are compared with the market. */
export interface ForecastCtx extends MarketWriteCtx, CatalogueNode {}

/** The context of writes of orders, which set our own prices. */
export interface OrderWriteCtx extends MarketWriteCtx, Pick<PriceWriteCtx, 'rules'> {}

/** A node's in-memory data of the marketplace. */
export interface MarketNode {
  market: MarketSettings
  listings: ListingSnapshot
}

/** The context of sellers' and public operations of the marketplace. */
export interface MarketCtx extends MarketWriteCtx, MarketNode {}

export const Time = (description: string) => Type.String({ format: 'date-time', description })

export const TimeOrNull = (description: string) => orNull(Time(description))

export const Status = Type.Enum([...STATUSES])

/** The result of a write of a listing; `etag` is sent as a header. */
export interface ListingResult extends Forecasted {
  message: MessageText
  id: number
  price: number
  status: (typeof STATUSES)[number]
  etag: string
}

const UsualWaitSchema = Type.Object(
  {
    p50_hours: orNull(Type.Number(), { description: 'Median; null if there were no decisions' }),
    p90_hours: orNull(Type.Number(), { description: '90th percentile; null if there were no decisions' }),
    n: Type.Integer({ description: 'Number of decisions: the latest 500 of the last 30 days' }),
  },
  { title: 'UsualWait', description: 'How long listings waited for approval' },
)

export type UsualWait = Static<typeof UsualWaitSchema>

export const ForecastSchema = Type.Object(
  {
    status: Type.Enum([...STATUSES, 'deleted'], { description: 'Resulting status' }),
    hidden: Type.Boolean({ description: 'Whether the listing would then be hidden from buyers' }),
    because: Type.Array(Type.String(), { description: 'Fields that require approval', examples: [['title']] }),
    usual_wait: UsualWaitSchema,
    warnings: Type.Array(Type.Object({ message: Type.String(), ...ReasonFields }), {
      description: 'What to check before setting the price, as in price jobs: a large change, a price far from the market, or one below the cost',
    }),
  },
  { title: 'ListingForecast', description: 'Expected result of a change to a listing' },
)

export type Forecast = Static<typeof ForecastSchema>

/** Additional fields in the result of a forecast. */
export interface Forecasted {
  forecast?: Forecast
}

/** Schema of these additional fields. */
export const Forecasting = { forecast: Type.Optional(ForecastSchema) }

export const ListingChangeSchema = Type.Object(
  { id: Type.Integer(), price: Type.Number({ description: 'In TL' }), status: Status, ...Forecasting },
  { title: 'ListingWriteResult' },
)

export const ListingStatusSchema = Type.Object({ id: Type.Integer(), status: Status, ...Forecasting }, { title: 'ListingStatusResult' })

export const HighlightSchema = Type.Object(
  { id: Type.Integer(), remaining_highlight_credits: Type.Integer(), ...Forecasting },
  { title: 'HighlightResult' },
)

/** The result of a forecast deletion; a real one has no data. */
export const ListingDeletionSchema = Type.Object(Forecasting, { title: 'ListingDeletion' })

export const PayoutPreviewSchema = Type.Object(
  {
    price: Type.Number({ description: 'Per unit, in TL' }),
    commission: Type.Number({ description: 'Commission, in TL' }),
    payout: Type.Number({ description: 'Payout to the seller, in TL' }),
  },
  { title: 'PayoutPreview', description: 'Payout of one unit' },
)

export type PayoutPreview = Static<typeof PayoutPreviewSchema>

export const ListingVisibilitySchema = Type.Object(
  {
    visible: Type.Boolean({ description: 'Whether a search can find the listing' }),
    reasons: Type.Array(
      Type.Object(
        {
          code: Type.Enum([...HINDRANCE_CODES]),
          since: TimeOrNull('Local time with offset; null if it was not recorded'),
          what_to_do: Type.String({ description: 'Human-readable message', examples: ['Publish it again.'] }),
          rejection_reason: orNull(Type.String(), { description: 'Reason written by the operator; only with the code `rejected`' }),
          change_requested: Type.Boolean({ description: 'Whether the operator asks for a change of the listing and did not just reject it' }),
        },
        { title: 'VisibilityReason', description: 'A reason a listing is hidden from buyers' },
      ),
      { description: 'Empty if the listing is visible' },
    ),
  },
  { title: 'ListingVisibility', description: 'Whether buyers can find a listing, and why not' },
)

export type ListingVisibility = Static<typeof ListingVisibilitySchema>

const ContentSchema = {
  title: Type.String({ description: 'Title given by the seller' }),
  slug: Type.String({ description: 'URL-friendly, ends with the id' }),
  description: Type.String({ description: 'Text of the seller' }),
  price: Type.Number({ description: 'In TL' }),
  quantity: Type.Integer({ description: 'Units in stock' }),
  language: orNull(Type.String(), { description: 'Such as `en` or `ja`' }),
  images: Type.Array(
    Type.Object(
      { url: Type.String({ description: 'URL of the image' }), order: Type.Integer({ description: 'Position among the images of the listing' }) },
      { title: 'ListingImage', description: 'An image of the listing' },
    ),
    { description: 'In display order' },
  ),
  shipping_payer: Type.Enum([...SHIPPING_PAYERS], { description: 'Who pays for shipping' }),
  offers_enabled: Type.Boolean({ description: 'Whether buyers may offer a lower price' }),
  min_offer_price: orNull(Type.Number(), { description: 'Lowest acceptable offer' }),
  certificate: orNull(CertificateSchema, { description: 'Certificate of the graded card; null if none was stated' }),
}

const changedBy = (at: string) =>
  orNull(
    Type.Object(
      { kind: Type.Enum(['price_job', 'repricing_rule']), id: Type.Integer({ description: 'Id of the job or rule' }), at: Time(at) },
      { title: 'ListingChangedBy', description: 'The job or rule that last set price or quantity of a listing' },
    ),
    { description: 'Job or rule that last set price or quantity; null if a person did' },
  )

const RecordId = orNull(Type.Integer(), { description: "Record of the owner's collection that it sells; null for none" })

const Sku = orNull(Type.String(), { description: 'Stock-keeping unit set by the owner' })

/** A listing as operators see it; times are UTC. */
export const StoredListingSchema = Type.Object(
  {
    id: Type.Integer(),
    seller_id: Type.Integer(),
    item_id: Type.Integer(),
    grade_id: orNull(Type.Integer()),
    ...ContentSchema,
    status: Status,
    approved_price: orNull(Type.Number(), { description: 'Price of the last approved version' }),
    approved_at: TimeOrNull('When it was last approved'),
    rejection_reason: orNull(Type.String(), { description: 'Rejection reason' }),
    waiting_since: TimeOrNull('When it was submitted for approval'),
    published_at: TimeOrNull('Start of its publication period'),
    expires_at: TimeOrNull('End of its publication period'),
    highlighted_until: TimeOrNull('End of the highlight'),
    sku: Sku,
    record_id: RecordId,
    changed_by: changedBy('UTC'),
    created_at: Time('UTC'),
    updated_at: Time('UTC'),
    etag: Type.String({ description: 'Value for `If-Match`' }),
    changed_since_approval: orNull(
      Type.Array(Type.Object({ field: Type.String(), approved: Type.Unknown(), now: Type.Unknown() }), {
        description: 'Differences from the last approved version; null if it was never approved',
      }),
    ),
  },
  { title: 'StoredListing' },
)

export type StoredListing = Static<typeof StoredListingSchema>

const ItemOfListing = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    code: orNull(Type.String()),
    slug: Type.String(),
    genre: genre(),
    game: Type.String(),
  },
  { title: 'ListingItem' },
)

const SaleOfItem = Type.Object(
  { price: Type.Number({ description: 'Per unit, in TL' }), sold_at: Time('Local time with offset') },
  { title: 'ItemSale', description: 'A sale of an item on this marketplace' },
)

const Details = {
  grade: orNull(
    Type.Object(
      {
        id: Type.Integer({ description: 'Unique id; see `groups`' }),
        label: Type.String({ description: 'Such as `Near Mint` or `PSA 10`', examples: ['PSA 10'] }),
      },
      { title: 'ListingGrade', description: 'Condition or grade of a listing' },
    ),
    {
      description: 'null if none was stated',
    },
  ),
  language: ContentSchema.language,
  quantity: ContentSchema.quantity,
  images: ContentSchema.images,
  certificate: ContentSchema.certificate,
  shipping_payer: ContentSchema.shipping_payer,
  offers_enabled: ContentSchema.offers_enabled,
  highlighted_until: TimeOrNull('End of the highlight, local time with offset; null if it was never highlighted'),
  published_at: TimeOrNull('Start of its publication period, local time with offset'),
  expires_at: TimeOrNull('End of its publication period, local time with offset'),
}

const DetailsSchema = Type.Object(Details)

export type ListingDetails = Static<typeof DetailsSchema>

const Flagged = {
  item: Type.Optional(ItemOfListing),
  pc_multiplier: Type.Optional(
    orNull(
      Type.Number({ description: 'Price in TL ÷ source_a price of the same item and grade; null if there is no such price or it is not trusted' }),
    ),
  ),
  average_price: Type.Optional(orNull(Type.Number({ description: 'Mean of the last 10 sales of the item; null if there are none' }))),
  last_sales: Type.Optional(Type.Array(SaleOfItem, { description: 'The last 10 sales of the item, newest first' })),
  explain: Type.Optional(ListingExplanationSchema),
}

export const FoundListingSchema = Type.Object(
  {
    id: Type.Integer({ description: 'Unique id' }),
    title: Type.String({ description: 'Title given by the seller' }),
    slug: Type.String({ description: 'URL-friendly, ends with the id' }),
    price: Type.Number({ description: 'In TL' }),
    ...Flagged,
    ...Type.Partial(DetailsSchema).properties,
  },
  { title: 'Listing' },
)

export type FoundListing = Static<typeof FoundListingSchema>

export const OwnListingSchema = Type.Object(
  {
    id: Type.Integer(),
    ...ContentSchema,
    status: Status,
    approved_price: orNull(Type.Number(), { description: 'Price of the last approved version' }),
    item_id: Type.Integer(),
    grade_id: orNull(Type.Integer()),
    rejection_reason: orNull(Type.String(), { description: 'Reason written by the operator' }),
    published_at: TimeOrNull('Local time with offset'),
    expires_at: TimeOrNull('Local time with offset'),
    highlighted_until: TimeOrNull('Local time with offset'),
    sku: Sku,
    record_id: RecordId,
    changed_by: changedBy('Local time with offset'),
    created_at: Time('Local time with offset'),
    updated_at: Time('Local time with offset'),
    etag: Type.String({ description: 'Value for `If-Match`' }),
    grade: Type.Optional(Details.grade),
    ...Flagged,
    views_7_days: Type.Optional(
      Type.Integer({ description: 'How often searches returned it to other accounts in the last 7 days, including today' }),
    ),
  },
  { title: 'OwnListing' },
)

export type OwnListing = Static<typeof OwnListingSchema>
