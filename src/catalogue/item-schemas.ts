// The REST item as a schema, for the reference (interface.md, "Item (REST)").
import { orNull } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import { GENRES } from './records.ts'

const GATED = 'Professional and above'

export const PriceSchema = Type.Object(
  {
    label: Type.String({ description: 'Condition or grade, such as `Near Mint` or `PSA 10`', examples: ['Near Mint'] }),
    price: Type.Number({ description: "In the currency of the item's `market`", examples: [168.56] }),
    updated_at: Type.String({ format: 'date-time', description: 'UTC', examples: ['2026-11-01T09:00:00Z'] }),
  },
  { title: 'Price' },
)

const CategorySchema = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String({ examples: ['Base Set'] }),
    slug: Type.Optional(Type.String({ description: GATED })),
  },
  { title: 'Category' },
)

const ImageSchema = Type.Object({ id: Type.Integer(), url: Type.String(), order: Type.Integer() }, { title: 'Image' })

const GroupSchema = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String({ examples: ['Graded'] }),
    slug: Type.Optional(Type.String({ description: GATED })),
  },
  { title: 'Group' },
)

const AttributeSchema = Type.Object(
  { name: Type.String({ examples: ['Rarity'] }), value: Type.String({ examples: ['Rare Holo'] }) },
  { title: 'Attribute' },
)

export const ItemSchema = Type.Object(
  {
    id: Type.Integer({ examples: [4] }),
    name: Type.String({ examples: ['Charizard'] }),
    code: orNull(Type.String(), { description: 'Item code or set number', examples: ['4/102'] }),
    slug: Type.Optional(Type.String({ description: `Unique. ${GATED}`, examples: ['charizard-4-102-base-set'] })),
    genre: Type.Optional(Type.Enum([...GENRES], { description: GATED })),
    game: Type.Optional(Type.String({ description: GATED, examples: ['pokemon'] })),
    market: Type.Optional(Type.Enum([...MARKETS], { description: `The market whose prices are shown. ${GATED}` })),
    category: CategorySchema,
    images: Type.Optional(Type.Array(ImageSchema, { description: GATED })),
    prices: Type.Array(PriceSchema, { description: 'Prices of one market, one for each label' }),
    groups: Type.Array(GroupSchema),
    attributes: Type.Optional(Type.Array(AttributeSchema, { description: GATED })),
  },
  { title: 'Item' },
)
