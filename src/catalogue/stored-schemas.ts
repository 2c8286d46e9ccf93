// Categories and items as operators see them: every stored field, with the operator API's names, ready for JSON.
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import { FlagsSchema } from './item-schemas.ts'
import { CONFIDENCES, STATES } from '#prices/evidence/evidence-types.ts'
import { closed, Details, ForeignIdList, genre, market } from './records/fields.ts'

const Time = Type.String({ format: 'date-time', description: 'UTC' })

export const StoredCategorySchema = Type.Object(
  {
    id: Type.Integer(),
    ref: Type.String({ description: 'Unique within its market' }),
    name: Type.String(),
    slug: Type.String({ description: 'Unique' }),
    game: Type.String(),
    market: market(),
    parent_id: orNull(Type.Integer()),
    image: orNull(Type.String()),
    created_at: Time,
    updated_at: Time,
  },
  { title: 'StoredCategory' },
)
export type StoredCategory = Static<typeof StoredCategorySchema>

export const StoredItemSchema = Type.Object(
  {
    id: Type.Integer(),
    ref: Type.String({ description: 'Unique within its market' }),
    name: Type.String(),
    code: orNull(Type.String()),
    slug: Type.String({ description: 'Unique' }),
    genre: genre(),
    game: Type.String(),
    market: market(),
    category_id: Type.Integer(),
    category: Type.Object({ id: Type.Integer(), name: Type.String(), slug: Type.String() }),
    images: Type.Array(Type.Object({ url: Type.String(), order: Type.Integer() })),
    attributes: Type.Array(Type.Object({ name: Type.String(), value: Type.String() })),
    groups: Type.Array(Type.Integer(), { description: 'Ids of groups' }),
    details: Details,
    foreign_ids: ForeignIdList,
    created_at: Time,
    updated_at: Time,
  },
  { title: 'StoredItem' },
)
export type StoredItem = Static<typeof StoredItemSchema>

export const ItemPriceSchema = Type.Object(
  {
    market: Type.Enum([...MARKETS]),
    label: Type.String(),
    price: Type.Number(),
    updated_at: Time,
    confirmed_at: Type.String({ format: 'date-time', description: 'When its source last stated the price, UTC' }),
    state: Type.Enum([...STATES], { description: 'Only `trusted` prices are inputs of computed figures' }),
    confidence: Type.Enum([...CONFIDENCES]),
    flags: FlagsSchema,
    import_id: Type.Integer({ description: 'Import or price post that set the price' }),
  },
  closed,
)

export const ListedItemSchema = Type.Object(
  {
    ...StoredItemSchema.properties,
    price: orNull(ItemPriceSchema, {
      description: 'The current price the public API shows first when no market is requested; null if there is none',
    }),
  },
  { title: 'ListedItem' },
)
export type ListedItem = Static<typeof ListedItemSchema>

export const ItemSourceSchema = Type.Object(
  {
    record_id: Type.Integer(),
    source: Type.String({ examples: ['tcgdex'] }),
    foreign_id: Type.String({ description: 'Id assigned by the source', examples: ['base1-4'] }),
    finish: orNull(Type.String({ description: 'null if the source does not state one: the record describes the whole card', examples: ['holo'] })),
    name: orNull(Type.String()),
    method: Type.String({
      description: 'How the record was matched to the item: `own`, `shop-id`, `set-map`, `loose-decided`, `sealed` or `operator`',
    }),
    confidence: Type.Integer({ description: '0 to 100' }),
    decided_by: orNull(Type.String({ description: 'null if a rule decided' })),
    at: Time,
  },
  { title: 'ItemSource' },
)
export type ItemSource = Static<typeof ItemSourceSchema>

export const StatedItemSourceSchema = Type.Object(
  {
    ...ItemSourceSchema.properties,
    facts: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Facts the source states about the item, by field',
      examples: [{ name: 'Charizard', code: '4/102', details: { hp: 120 } }],
    }),
  },
  { title: 'StatedItemSource' },
)
export type StatedItemSource = Static<typeof StatedItemSourceSchema>

/** A single requested item: with its prices and the sources of its facts. */
export const PricedItemSchema = Type.Object(
  {
    ...StoredItemSchema.properties,
    shown_market: Type.Enum([...MARKETS], { description: 'Market whose prices the public API shows when none is requested' }),
    prices: Type.Array(ItemPriceSchema, { description: 'Current prices of all markets' }),
    sources: Type.Array(ItemSourceSchema, { description: 'Facts the sources state about the item, in order of precedence' }),
    provenance: Type.Record(Type.String(), Type.String(), {
      description: 'Source of each fact by field',
      examples: [{ name: 'tcgdex', 'details.level': 'pokemontcg' }],
    }),
  },
  { title: 'PricedItem' },
)
export type PricedItem = Static<typeof PricedItemSchema>
