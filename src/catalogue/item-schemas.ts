// The REST item as a schema, for the reference (interface.md, "Item (REST)").
import { orNull } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import { CONFIDENCES, FLAGS, STATES } from '#prices/evidence/evidence-types.ts'
import { CostToMoveSchema } from '#prices/own/cost-to-move-schema.ts'
import { GENRES } from './records/catalogue-records.ts'

const GATED = 'Professional and above'
const STATS = 'With `with_stats=1`, Professional and above'

export const StateSchema = Type.Enum([...STATES], {
  description:
    '`trusted`: no evidence contradicts the price; `disputed`: evidence contradicts it, or contradicts either it or another price; `stale`: its source has not confirmed it for too long, or the service has had no sale for 90 days; `unproven`: fewer than three buyers or two sellers are behind a price of the service',
})
export const ConfidenceSchema = Type.Enum([...CONFIDENCES], {
  description: 'Derived from the number of sources that agree, sample size, age and spread',
})
export const FLAGS_DESCRIPTION = 'Evidence against the price, checks that were not possible, and differences that are usual'
export const FlagsSchema = Type.Array(Type.Enum([...FLAGS]), { description: FLAGS_DESCRIPTION })

const figure = (description: string) => Type.Optional(orNull(Type.Number(), { description: `${description} ${STATS}` }))

export const PriceSchema = Type.Object(
  {
    label: Type.String({ description: 'Condition or grade, such as `Near Mint` or `PSA 10`', examples: ['Near Mint'] }),
    price: Type.Number({ description: "In the currency of the item's `market`", examples: [168.56] }),
    updated_at: Type.String({ format: 'date-time', description: 'UTC', examples: ['2026-11-01T09:00:00Z'] }),
    currency: Type.Optional(Type.String({ description: `ISO 4217 code. ${STATS}`, examples: ['USD'] })),
    state: Type.Optional(StateSchema),
    confidence: Type.Optional(ConfidenceSchema),
    flags: Type.Optional(FlagsSchema),
    confirmed_at: Type.Optional(Type.String({ format: 'date-time', description: `When a feed last stated the price, to the minute, UTC. ${STATS}` })),
    avg_7: figure("The feed's own 7-day average."),
    avg_30: figure("The feed's own 30-day average."),
    low: figure("The feed's own lowest price."),
    high: figure("The feed's own highest price."),
    cost_to_move_10pct: Type.Optional(orNull(CostToMoveSchema)),
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
