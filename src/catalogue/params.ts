// Parameters that catalogue lists share, with the words the reference uses for them.
import { moment } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import { GENRES } from './records.ts'
import { SORT_DIRECTIONS, SORT_FIELDS } from './snapshot/sort-keys.ts'

export const MarketParam = Type.Enum([...MARKETS], {
  description:
    'Market whose prices are shown: of the items that it has prices of, and of those of its own catalogue. Without it each item shows the prices of the market whose catalogue it came from, else of the first with prices in an order that the operator sets',
})

export const GenreParam = Type.Enum([...GENRES], { description: 'Kind of item' })

export const GameParam = Type.String({
  maxLength: 100,
  description: 'Game, such as `pokemon` or `onepiece`; one that is not known gives an empty page',
  examples: ['pokemon'],
})

export const CategoryParam = Type.Integer({
  description: 'Category; everything below it is included',
  examples: [12],
})

export const SearchParam = Type.String({
  maxLength: 200,
  description:
    'Words that must all be found in names (in any language that the catalogue knows), code, name or code of the set, finish, rarity or language, whatever their case or accents; a code matches with or without leading zeros and its `/total`',
  examples: ['charizard 4/102'],
})

export const QueryParam = Type.String({
  minLength: 1,
  maxLength: 500,
  description:
    'Field query: terms such as `set:base1`, `number:4`, `name:"dark charizard"`, `r>=rare`, `finish:holo`, `lang:ja`, `price<20`, `price.source_a>=5`, `label:"PSA 10"` and words as `search` has them; all must hold, `or` and parentheses group, `-` negates. The answer tells as `query` how it was read',
  examples: ['set:base1 r>=rare -finish:first-edition'],
})

export const UpdatedSinceParam = moment(
  'Only items that changed at this time or later: their own data, or a price of any market that was added, changed or reverted. What counts is the time at which the service recorded the change, not the date of the price in its feed. A price confirmed at the same amount, new evidence for a price and a renamed category do not count as changes',
)

export const SortByParam = Type.Enum([...SORT_FIELDS], {
  default: 'name',
  description:
    '`price` is the Near Mint price, else the lowest ungraded one, of the market that is shown. Prices of several currencies are compared in lira, by the rates of the day; items without a price come last, as do those whose currency has no rate, in both directions',
})

export const SortOrderParam = Type.Enum([...SORT_DIRECTIONS], { default: 'asc', description: 'Ties go by id' })

export const StatsParam = Type.Boolean({
  default: false,
  description:
    '`1` adds to each price `currency`, `state`, `confidence`, `flags`, `confirmed_at`, `avg_7`, `avg_30`, `low` and `high`. Professional and above; Starter gets the same answer with it as without',
})

/** A cursor holds the sort value of a row, and a name has at most some hundred characters. */
export const AfterParam = Type.String({ maxLength: 8_000, description: 'The `endCursor` of the page before' })

/** Ids of the interface are integers of any size; one past this belongs to nothing. */
export const IdParam = Type.Integer({ description: 'Id', examples: [1] })
