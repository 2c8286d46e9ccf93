// A shared collection as anyone with its link sees it.
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { VISIBILITIES } from '../records/types.ts'

const Currency = Type.String({ description: 'Code of the currency', examples: ['TRY'] })

const SharedValueSchema = Type.Object(
  {
    currency: Currency,
    price: Type.Number({ description: 'Trusted price of one copy' }),
    amount: Type.Number({ description: 'Price times quantity' }),
  },
  { title: 'SharedValue', description: 'Value of a record' },
)

const SharedItemSchema = Type.Object(
  {
    name: Type.String({ description: 'Name of the item' }),
    slug: Type.String({ description: 'Slug of the item' }),
    label: orNull(Type.String(), { description: 'Condition or grade; null if the item has none' }),
    quantity: Type.Integer({ description: 'Copies' }),
    picture: orNull(Type.String(), { description: 'Address of a picture; null without one' }),
    value: orNull(SharedValueSchema, { description: 'By the trusted price for its grade; null without one' }),
  },
  { title: 'SharedItem', description: 'A record of a shared collection' },
)
export type SharedItem = Static<typeof SharedItemSchema>

const SharedWorthSchema = Type.Object(
  {
    currencies: Type.Array(
      Type.Object(
        { currency: Currency, value: Type.Number({ description: 'Sum of the values in this currency' }) },
        { title: 'SharedCurrencyValue', description: 'Worth in one currency' },
      ),
      { description: 'By currency; currencies are never summed' },
    ),
    without_value: Type.Integer({ description: 'Records without a trusted price' }),
  },
  { title: 'SharedWorth', description: 'What the collection is worth now' },
)

const SharedSetSchema = Type.Object(
  {
    name: Type.String({ description: 'Name of the set' }),
    slug: Type.String({ description: 'Slug of the set' }),
    game: Type.String({ description: 'Game of the set' }),
    image: orNull(Type.String(), { description: 'Address of its picture' }),
    owned: Type.Integer({ description: 'Cards of which the collection has a copy' }),
    of: Type.Integer({ description: 'Cards of the set' }),
    percent: orNull(Type.Number(), { description: 'Rounded down to one decimal; null if the set has no card' }),
  },
  { title: 'SharedSet', description: 'How much of a set the collection has' },
)

export const SharedCollectionSchema = Type.Object(
  {
    name: Type.String({ description: 'Name of the collection' }),
    description: Type.String({ description: 'Description of the collection' }),
    visibility: Type.Enum([...VISIBILITIES], { description: '`public` pages may be listed by search engines' }),
    items_count: Type.Integer({ description: 'Records with copies' }),
    worth: SharedWorthSchema,
    sets: Type.Array(SharedSetSchema, { description: 'The fullest sets; all cards in any finish and language' }),
    items: Type.Array(SharedItemSchema, { description: 'A page of the records, newest first' }),
  },
  { title: 'SharedCollection', description: 'A collection without costs, notes, codes, dates and owner' },
)
export type SharedCollection = Static<typeof SharedCollectionSchema>
