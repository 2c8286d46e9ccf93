// Watches as verbs return and accept them.
import type { CatalogueNode } from '#catalogue/context.ts'
import { shortText } from '#catalogue/records/fields.ts'
import { ANY_LANGUAGE, GOALS } from '#collections/completion/goals.ts'
import { MAX_INTEGER, orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { MAX_AMOUNT } from '#core/money.ts'
import { reason } from '#core/problems.ts'
import { language } from '#market/listings/listing-body.ts'
import type { MarketWriteCtx } from '#market/marketplace-types.ts'
import { GOAL_WATCH_KIND, ITEM_WATCH_KINDS, WATCH_KINDS } from '#webhooks/events/event-body.ts'

/** Currency of listings. */
export const OFFER_CURRENCY = 'TRY'
/** Watches of one account. */
export const MAX_WATCHES = 20_000
/** Of these, watches of goals: each is compared once a day, which takes as long as reading its completion. */
export const MAX_GOAL_WATCHES = 100
export const MAX_WATCHES_PER_REQUEST = 1_000

export const AMOUNT = reason('number', { above: 0, decimals: 2 })

export function amount() {
  return Type.Number({ exclusiveMinimum: 0, maximum: MAX_AMOUNT, allowed: AMOUNT, description: 'Amount in `currency`', examples: [1250] })
}

const ITEM_KINDS =
  '`offer_below`: a listing on sale costs at most the amount; `price_below`, `price_above`: a trusted price of a market is at most or at least the amount'
const GOAL_KIND = '`goal_reopened`: a set of a collection that was complete is so no longer'

export const ITEM_ID = { minimum: 1, maximum: MAX_INTEGER }

export const WatchInput = Type.Object(
  {
    kind: Type.Enum([...WATCH_KINDS], { description: `${ITEM_KINDS}; ${GOAL_KIND}` }),
    item_id: Type.Optional(Type.Integer({ ...ITEM_ID, description: 'Item in the catalogue; required except for goals', examples: [1] })),
    label: Type.Optional(
      orNull(shortText('Condition or grade, such as `Near Mint` or `PSA 10`; required for prices, null or absent for offers of any')),
    ),
    language: Type.Optional(orNull(language('Language of the listing, only for offers, default: any; or of the goal, as in `GET completion`'))),
    amount: Type.Optional(amount()),
    currency: Type.Optional(
      Type.String({ maxLength: 3, description: 'Currency of the watched prices; required for prices, and `TRY` for offers', examples: ['TRY'] }),
    ),
    collection_id: Type.Optional(Type.Integer({ ...ITEM_ID, description: 'One of your collections; required for goals, and only for them' })),
    category_id: Type.Optional(Type.Integer({ ...ITEM_ID, description: 'Category of the set; required for goals, and only for them' })),
    goal: Type.Optional(Type.Enum([...GOALS], { description: 'Rule of the goal, as in `GET completion`; only for goals; default: `complete`' })),
  },
  {
    additionalProperties: false,
    title: 'WatchInput',
    description: 'A watch; its kind, item, label and language identify it, or for goals its collection, category, goal and language',
  },
)
export type WatchFields = Static<typeof WatchInput>

const Time = (description: string) => Type.String({ format: 'date-time', description: `${description}, local time with offset` })

export const ItemWatchSchema = Type.Object(
  {
    id: Type.Integer({ description: 'Id of the watch' }),
    kind: Type.Enum([...ITEM_WATCH_KINDS], { description: ITEM_KINDS }),
    item_id: Type.Integer({ description: 'Id of the item' }),
    item_name: Type.String({ description: 'Name of the item' }),
    label: orNull(Type.String(), { description: 'Condition or grade; null for any' }),
    language: orNull(Type.String(), { description: 'Language of listings; null for any' }),
    amount: Type.Number({ description: 'Amount in `currency`' }),
    currency: Type.String({ description: 'Currency of the watched prices' }),
    told_on: orNull(Type.String({ format: 'date' }), { description: 'Day of its last event, in the time zone of the service; null for none' }),
    created_at: Time('When it was created'),
    updated_at: Time('When its amount last changed'),
  },
  { title: 'ItemWatch' },
)
export type ItemWatch = Static<typeof ItemWatchSchema>

export const GoalWatchSchema = Type.Object(
  {
    id: Type.Integer({ description: 'Id of the watch' }),
    kind: Type.Literal(GOAL_WATCH_KIND, { description: GOAL_KIND }),
    collection_id: Type.Integer({ description: 'Id of the collection' }),
    collection_name: Type.String({ description: 'Name of the collection' }),
    category_id: Type.Integer({ description: 'Category of the set' }),
    category_name: Type.String({ description: 'Name of the set' }),
    goal: Type.Enum([...GOALS], { description: 'Rule of the goal' }),
    language: Type.String({ description: `\`${ANY_LANGUAGE}\`, or the language of the goal` }),
    complete: orNull(Type.Boolean(), { description: 'Whether the goal was complete when it was last compared; null before the first time' }),
    told_on: orNull(Type.String({ format: 'date' }), { description: 'Day of its last event, in the time zone of the service; null for none' }),
    created_at: Time('When it was created'),
    updated_at: Time('The same: its fields never change'),
  },
  { title: 'GoalWatch' },
)
export type GoalWatch = Static<typeof GoalWatchSchema>

export const WatchSchema = Type.Union([ItemWatchSchema, GoalWatchSchema], { title: 'Watch' })
export type Watch = Static<typeof WatchSchema>

/** The context of writes of watches. */
export interface WatchWriteCtx extends MarketWriteCtx, CatalogueNode {}
