// Prices under review as returned by verbs, and the filters of their lists.
import { boundedId, filter, orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import { bitsOf, CONFIDENCES, FLAGS, NEUTRAL_FLAGS, STATES } from '../evidence/evidence-types.ts'
import { RULE_NAMES } from '../evidence/hold.ts'

/** States of prices that people decide on. */
export const REVIEW_STATES = ['held', 'disputed', 'stale'] as const

export type ReviewState = (typeof REVIEW_STATES)[number]

/** What is not evidence against a price is not a cause. */
export const CAUSE_FLAGS = FLAGS.filter((flag) => (bitsOf([flag]) & NEUTRAL_FLAGS) === 0)

/** The rule that holds a price, or the first flag against a published one. */
export const CAUSES = [...new Set([...RULE_NAMES, ...CAUSE_FLAGS])]

export type Cause = (typeof CAUSES)[number]

export const SORTS = ['times_off', 'value'] as const

/** Filters of prices under review. */
export const ReviewFields = {
  state: Type.Optional(Type.Enum([...REVIEW_STATES])),
  cause: Type.Optional(
    Type.Enum([...CAUSES], {
      description: 'Only prices held by this rule, or with this as the first flag of the published prices of the item and label',
    }),
  ),
  market: Type.Optional(Type.Enum([...MARKETS])),
  label: filter('Condition or grade'),
  game: filter('Only this game'),
  category_id: boundedId('Only this category; includes everything below it'),
  item_id: boundedId('Only this item'),
  import_id: boundedId('Only prices of this import'),
}

export type ReviewFilter = Static<ReturnType<typeof reviewFilter>>

function reviewFilter() {
  return Type.Object(ReviewFields)
}

export const MAX_IDENTICAL = 5

const Time = Type.String({ format: 'date-time', description: 'UTC' })

const figure = (description: string) => orNull(Type.Number({ description }))

export const ReviewedPriceSchema = Type.Object(
  {
    held_id: orNull(Type.Integer({ description: 'Id of the held price; null for a published price' })),
    market: Type.Enum([...MARKETS]),
    label: Type.String(),
    price: Type.Number(),
    currency: Type.String(),
    updated_at: Time,
    confirmed_at: orNull(Type.String({ format: 'date-time', description: 'When its feed last stated the price; null for a held price' })),
    state: Type.Enum(['held', ...STATES] as const),
    confidence: orNull(Type.Enum([...CONFIDENCES])),
    flags: Type.Array(Type.Enum([...FLAGS]), { description: 'Evidence against a published price' }),
    identical_to: Type.Array(Type.Object({ id: Type.Integer(), name: Type.String(), code: orNull(Type.String()) }, { title: 'IdenticalItem' }), {
      maxItems: MAX_IDENTICAL,
      description: `Items with the same figures, if \`flags\` has \`identical_figures\`; at most ${MAX_IDENTICAL}`,
    }),
    rule: orNull(Type.Enum([...RULE_NAMES], { description: 'Rule that holds the price' })),
    reason: orNull(Type.String()),
    params: orNull(Type.Record(Type.String(), Type.Unknown(), { description: 'Parameters of the reason' })),
    compared_price: figure('Price a held price was compared with, in the same currency'),
    times_off: figure('Factor between the two prices'),
    avg_1: figure("The feed's own 1-day average"),
    avg_7: figure("The feed's own 7-day average"),
    avg_30: figure("The feed's own 30-day average"),
    low: figure("The feed's lowest offer"),
    mid: figure("The feed's median offer"),
    high: figure("The feed's highest offer"),
    samples: orNull(Type.Integer({ description: 'Number of sales or offers behind the figures' })),
    import_id: Type.Integer(),
    line: orNull(Type.Integer({ description: 'Line number in the file' })),
  },
  { title: 'ReviewedPrice' },
)

export type ReviewedPrice = Static<typeof ReviewedPriceSchema>

export const PriceReviewSchema = Type.Object(
  {
    item: Type.Object({
      id: Type.Integer(),
      name: Type.String(),
      code: orNull(Type.String()),
      ref: Type.String(),
      game: Type.String(),
      finish: orNull(Type.String()),
      category: Type.Object({ id: Type.Integer(), name: Type.String() }),
      images: Type.Array(Type.Object({ url: Type.String(), order: Type.Integer() })),
    }),
    state: Type.Enum([...REVIEW_STATES]),
    cause: orNull(Type.Enum([...CAUSES])),
    markets: Type.Array(Type.Enum([...MARKETS]), { description: 'Ids of the prices under review' }),
    labels: Type.Array(Type.String()),
    times_off: figure('Largest factor between the prices; null if they cannot be compared'),
    value: figure('Largest price in lira at the latest rates; null if there is no rate'),
    prices: Type.Array(ReviewedPriceSchema, { description: 'Prices under review, and the other published prices of the same labels' }),
  },
  { title: 'PriceReview' },
)

export type PriceReview = Static<typeof PriceReviewSchema>

export const ReviewCountSchema = Type.Object(
  {
    held: Type.Integer(),
    disputed: Type.Integer(),
    stale: Type.Integer(),
    prices: Type.Integer({ description: 'Together' }),
  },
  { title: 'PriceReviewCount' },
)

export type ReviewCount = Static<typeof ReviewCountSchema>
