// Collections and their records as returned by verbs: public field names, ready for JSON.
import type { CatalogueNode, MarketUse } from '#catalogue/context.ts'
import { CertificateSchema } from '#catalogue/certificates/certificate.ts'
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { MARKETS, type Market } from '#core/markets.ts'
import { namedValues } from '#core/named-values.ts'
import type { HasPrecondition } from '#core/precondition.ts'
import type { ReadCtx, WriteCtx } from '#db/changes/change.ts'

/** The context of writing a record. */
export type RecordWriteCtx = WriteCtx & HasPrecondition

/** The data for computing worth: prices, and their currencies. */
export type PricingCtx = Pick<ReadCtx, 'db'> &
  CatalogueNode &
  Partial<MarketUse> & {
    currencies: Readonly<Record<Market, string>>
    /** time zone of local times and days */
    market: { timeZone: string }
  }

/** The context of reading collections. */
export type CollectionReadCtx = ReadCtx & PricingCtx

export const METHODS = namedValues('CollectionMethod', ['fifo', 'average'])
export type Method = (typeof METHODS)[number]
export const MethodSchema = Type.Enum([...METHODS], {
  description: 'How profit counts cost: `fifo`, the oldest copies leave first, or `average`, at the average cost of the copies at that moment',
})

export const VISIBILITIES = namedValues('CollectionVisibility', ['private', 'unlisted', 'public'])

const Amount = Type.Object({ currency: Type.String({ examples: ['TRY'] }), amount: Type.Number() }, { title: 'Amount' })

const WorthSchema = Type.Object(
  {
    currencies: Type.Array(
      Type.Object({
        currency: Type.String({ examples: ['TRY'] }),
        value: Type.Number({ description: 'Sum of current price × quantity' }),
        cost: Type.Number({ description: 'Sum of purchase price × quantity' }),
        gain: orNull(Type.Number({ description: 'Value minus cost of the records that have both; null if none has' })),
      }),
      { description: 'One entry per currency; amounts in different currencies are never summed' },
    ),
    without_price: Type.Integer({ description: 'Records without a matching price' }),
    without_trusted_price: Type.Integer({
      description: 'Records excluded from `value` because every matching price is disputed or stale',
    }),
    without_cost: Type.Integer({ description: 'Records without a purchase price' }),
  },
  { title: 'CollectionWorth', description: 'Only with `with_value=1`' },
)
export type Worth = Static<typeof WorthSchema>

export const WorthDaySchema = Type.Object(
  {
    day: Type.String({ format: 'date', description: "Date in the service's time zone" }),
    at: Type.String({ format: 'date-time', description: 'When it was calculated, local time with offset, from the prices and records at that time' }),
    ...WorthSchema.properties,
  },
  { title: 'CollectionWorthDay', description: 'Worth of a collection on one day, using the prices trusted at that time' },
)
export type WorthDay = Static<typeof WorthDaySchema>

export const CollectionSchema = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    description: Type.String(),
    visibility: Type.Enum([...VISIBILITIES]),
    items_count: Type.Integer({ description: 'Number of records' }),
    method: MethodSchema,
    worth: Type.Optional(WorthSchema),
  },
  {
    title: 'Collection',
    examples: [{ id: 4, name: 'Base Set', description: '', visibility: 'private', items_count: 102, method: 'fifo' }],
  },
)
export type Collection = Static<typeof CollectionSchema>

export const OwnCollectionSchema = Type.Object(
  {
    ...CollectionSchema.properties,
    shared_url: orNull(Type.String({ examples: ['https://api.example.com/shared/kq3v0bXb6mV6cJ0cYb3Vw2nX1aQ9sT7e'] }), {
      description:
        'Address of the page that shows the collection to everyone who has it, without costs and notes; null while `visibility` is `private`',
    }),
  },
  { title: 'OwnCollection' },
)
export type OwnCollection = Static<typeof OwnCollectionSchema>

export const StoredCollectionSchema = Type.Object(
  {
    id: Type.Integer(),
    account_id: Type.Integer(),
    name: Type.String(),
    description: Type.String(),
    visibility: Type.Enum([...VISIBILITIES]),
    items_count: Type.Integer(),
    method: MethodSchema,
    created_at: Type.String({ format: 'date-time' }),
    updated_at: Type.String({ format: 'date-time' }),
  },
  { title: 'StoredCollection' },
)
export type StoredCollection = Static<typeof StoredCollectionSchema>

const RECORD_PROPERTIES = {
  id: Type.Integer({ description: 'Record id: `itemId` in paths' }),
  item_id: Type.Integer({ description: 'Id of the item' }),
  item_name: Type.String({ description: 'Name of the item' }),
  item_slug: Type.String(),
  group_label: orNull(Type.String({ description: 'Condition or grade', examples: ['Near Mint'] })),
  quantity: Type.Integer({ description: 'Copies; 0 once all are sold' }),
  purchase_price: orNull(Type.Number(), { description: 'Price paid per copy' }),
  sale_price: orNull(Type.Integer({ description: 'Rounded to a whole number' })),
  purchase_date: orNull(Type.String({ format: 'date' }), { description: 'Purchase date, YYYY-MM-DD' }),
  card_uniq_id: orNull(Type.String({ description: 'Own tracking code or certificate number' })),
  note: orNull(Type.String(), { description: 'Free text' }),
  for_trade: Type.Integer({ description: 'Copies that the owner would trade or sell' }),
  certificate: orNull(CertificateSchema, { description: 'Certificate of the graded card; null for none' }),
}

const RecordItemSchema = Type.Object(
  {
    code: orNull(Type.String({ description: 'Number of the card', examples: ['4/102'] })),
    set: orNull(Type.String({ description: 'Name of its category', examples: ['Base Set'] })),
    finish: orNull(Type.String({ description: 'Printing', examples: ['Holo'] })),
    image: orNull(Type.String({ description: 'URL of its first image; null if there is none' })),
  },
  { title: 'CollectionRecordItem', description: 'Only with `with_item=1`: what identifies the item at a glance' },
)
/** What identifies a record's item at a glance. */
export type RecordItem = Static<typeof RecordItemSchema>

export const CollectionRecordSchema = Type.Object(
  {
    ...RECORD_PROPERTIES,
    value: Type.Optional(
      orNull(
        Type.Object(
          {
            market: Type.Enum([...MARKETS]),
            label: Type.String(),
            currency: Type.String(),
            price: Type.Number(),
            amount: Type.Number({ description: 'Price × quantity' }),
            updated_at: Type.String({ format: 'date-time', description: 'Time of the price, local with offset' }),
          },
          { description: 'Only with `with_value=1`: the current price that matches the grade; null if there is none' },
        ),
      ),
    ),
    value_missing: Type.Optional(
      orNull(
        Type.Enum(['no_price', 'not_trusted'], {
          description: 'Only with `with_value=1`: why there is no `value`; `not_trusted` if every matching price is disputed or stale',
        }),
      ),
    ),
    cost: Type.Optional(orNull(Amount)),
    gain: Type.Optional(orNull(Amount)),
    item: Type.Optional(RecordItemSchema),
  },
  { title: 'CollectionRecord' },
)
export type CollectionRecord = Static<ReturnType<typeof Type.Object<typeof RECORD_PROPERTIES>>>
/** A record with its worth, as `with_value=1` adds it. */
export type ValuedRecord = Static<typeof CollectionRecordSchema>

/** A record and the entity tag of this version. */
export interface TaggedRecord {
  record: CollectionRecord
  /** entity tag, in quotes */
  tag: string
}
