// The completion of a goal as returned by verbs, and the input fields that choose the goal.
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import { STATES } from '#prices/evidence/evidence-types.ts'
import { ANY_LANGUAGE, GOALS } from './goals.ts'

export const GOAL_FIELDS = {
  goal: Type.Optional(
    Type.Enum([...GOALS], {
      default: 'complete',
      description:
        '`base`: cards numbered 1 to the printed count of their set; `official`: also numbered subsets up to their own printed counts, such as ' +
        '`TG12/TG30`; `complete`: every card in any finish; `master`: every finish and printing. A set that prints no count counts all its numbered ' +
        'cards for `base` and `official`. Sealed products never count',
    }),
  ),
  language: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 40,
      default: ANY_LANGUAGE,
      description:
        '`any`, or a language such as `ja`: only items that the catalogue has in this language, and offers that state it. Records state no language',
      examples: ['ja'],
    }),
  ),
}

/** Owned of all in percent with one decimal, rounded down, so that only a finished goal has 100; null for a goal without cards. */
export function percentOf(owned: number, of: number): number | null {
  return of === 0 ? null : Math.floor((owned * 1_000) / of) / 10
}

const COUNTS = {
  owned: Type.Integer({ description: 'Cards of which the collection has at least one copy; each counts once' }),
  of: Type.Integer({ description: 'Cards of the goal' }),
  percent: orNull(Type.Number(), { description: 'Rounded down to one decimal; null if the goal has no card' }),
}

export const SetCompletionSchema = Type.Object(
  {
    category_id: Type.Integer({ description: 'Category of the set' }),
    name: Type.String({ description: 'Name of the set' }),
    slug: Type.String({ description: 'Slug of the set' }),
    game: Type.String({ description: 'Game of the set' }),
    image: orNull(Type.String(), { description: 'Address of its picture' }),
    ...COUNTS,
  },
  { title: 'SetCompletion', description: 'How much of a set a collection has' },
)
export type SetCompletion = Static<typeof SetCompletionSchema>

const CARD = {
  item_id: Type.Integer({ description: 'Id of the item' }),
  name: Type.String({ description: 'Name of the item' }),
  number: orNull(Type.String(), { description: 'Number of the card, as printed' }),
  slug: Type.String({ description: 'Slug of the item' }),
}

const IN_SET = {
  category_id: Type.Integer({ description: 'Category of its set' }),
  image: orNull(Type.String(), { description: 'Address of its picture' }),
}

const MissingCardSchema = Type.Object(
  {
    ...CARD,
    finish: orNull(Type.String(), { description: 'Finish of the item: the plainest one that has a trusted price, otherwise the plainest one' }),
    ...IN_SET,
    price: orNull(
      Type.Object(
        {
          market: Type.Enum([...MARKETS], { description: 'Market of the price' }),
          label: Type.String({ description: '`Ungraded` or `Near Mint`' }),
          currency: Type.String({ description: 'Currency of the price', examples: ['TRY'] }),
          amount: Type.Number({ description: 'Price of one copy' }),
          state: Type.Enum([...STATES], { description: 'Only a `trusted` price is part of `cost_to_finish`' }),
        },
        { title: 'MissingCardPrice', description: 'Price of an ungraded copy' },
      ),
      { description: 'Price of an ungraded copy, a trusted one first; null without a price' },
    ),
    offer: orNull(
      Type.Object(
        {
          listing_id: Type.Integer({ description: 'Id of the listing' }),
          item_id: Type.Integer({ description: 'Item of the listing: may be another finish of the card' }),
          label: Type.String({ description: 'Condition or grade', examples: ['Near Mint'] }),
          currency: Type.String({ description: 'Currency of the listing', examples: ['TRY'] }),
          amount: Type.Number({ description: 'Price of one copy' }),
        },
        { title: 'MissingCardOffer', description: 'The cheapest listing on sale' },
      ),
      { description: 'The cheapest listing of the card on sale, in any finish and condition, except your own; null without one' },
    ),
  },
  { title: 'MissingCard', description: 'A card of a goal that the collection lacks' },
)
export type MissingCard = Static<typeof MissingCardSchema>

const GoalCardSchema = Type.Object(
  {
    ...CARD,
    finish: orNull(Type.String(), { description: 'Finish of the item: the plainest one that the collection has, otherwise as in `missing`' }),
    ...IN_SET,
    copies: Type.Integer({ description: 'Copies in the collection, of all printings that count as this card; 0 if it is missing' }),
  },
  { title: 'GoalCard', description: 'A card of a goal' },
)
export type GoalCard = Static<typeof GoalCardSchema>

const CurrencyAmountSchema = Type.Object(
  {
    currency: Type.String({ description: 'Code of the currency', examples: ['TRY'] }),
    amount: Type.Number({ description: 'Sum in this currency' }),
  },
  { title: 'CurrencyAmount', description: 'A sum in one currency' },
)

export const MarketCostSchema = Type.Object(
  {
    currencies: Type.Array(CurrencyAmountSchema, { description: 'Sums of the trusted prices of missing cards; currencies are never summed' }),
    priced: Type.Integer({ description: 'Missing cards with a trusted price' }),
    unpriced: Type.Integer({ description: 'Missing cards without one, which the sums omit' }),
  },
  { title: 'MarketCostToFinish', description: 'At market prices' },
)

const CostToFinishSchema = Type.Object(
  {
    market: MarketCostSchema,
    listings: Type.Object(
      {
        currency: Type.String({ description: 'Currency of listings', examples: ['TRY'] }),
        amount: Type.Number({ description: 'Sum of the cheapest offers of missing cards' }),
        offered: Type.Integer({ description: 'Missing cards that are on sale' }),
        not_offered: Type.Integer({ description: 'Missing cards that are not, which the sum omits' }),
      },
      { title: 'ListingsCostToFinish', description: 'At the cheapest offers on sale' },
    ),
  },
  { title: 'CostToFinish', description: 'Cost of the missing cards' },
)

export const DuplicatesSchema = Type.Object(
  {
    items: Type.Integer({ description: 'Items with more than one copy; finishes are different items' }),
    copies: Type.Integer({ description: 'Copies beyond the first of each: the copy with the highest price is the first' }),
    currencies: Type.Array(CurrencyAmountSchema, { description: 'Worth of these copies at trusted prices for their grades' }),
    unpriced: Type.Integer({ description: 'Of these copies, those without a trusted price' }),
    most: Type.Array(
      Type.Object(
        { ...CARD, copies: Type.Integer({ description: 'Copies beyond the first' }) },
        { title: 'DuplicateItem', description: 'An item with more than one copy' },
      ),
      { description: 'Up to 100 of the items, those with the most copies first' },
    ),
  },
  { title: 'Duplicates', description: 'Items of the goal that the collection has more than once' },
)
export type Duplicates = Static<typeof DuplicatesSchema>

export const CompletionSchema = Type.Object(
  {
    goal: Type.Enum([...GOALS], { description: 'The goal' }),
    language: Type.String({ description: '`any`, or the language' }),
    ...COUNTS,
    missing: Type.Array(MissingCardSchema, { description: 'A page of the missing cards, by set and number; with `with_owned=1`, those in `cards`' }),
    cards: orNull(Type.Array(GoalCardSchema), { description: 'A page of all cards of the goal, by set and number; null without `with_owned=1`' }),
    cost_to_finish: CostToFinishSchema,
    duplicates: DuplicatesSchema,
  },
  { title: 'Completion', description: 'How far a collection is towards a goal' },
)
export type Completion = Static<typeof CompletionSchema>
