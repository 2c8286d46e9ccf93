// Parameters shared by catalogue lists, with their texts in the reference.
import { invalid } from '#core/errors.ts'
import { parseLabel } from '#core/labels.ts'
import { moment } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import { GENRES } from './records/catalogue-records.ts'
import { SORT_DIRECTIONS, SORT_FIELDS } from './index/sort-keys.ts'

export const MarketParam = Type.Enum([...MARKETS], {
  description:
    'Market whose prices are shown. Only items with prices in it, and items of its own catalogue, are returned. Default: each item shows the prices of the market its catalogue belongs to, otherwise of the first market with prices in the order set by the operator',
})

export const GenreParam = Type.Enum([...GENRES], { description: 'Kind of item' })

export const GameParam = Type.String({
  maxLength: 100,
  description: 'Game, such as `pokemon` or `onepiece`; an unknown game returns an empty page',
  examples: ['pokemon'],
})

export const CategoryParam = Type.Integer({
  description: 'Category; includes everything below it',
  examples: [12],
})

export const SearchParam = Type.String({
  maxLength: 200,
  description:
    'All words must match: names (in every language of the catalogue), code, name or code of the set, finish, rarity or language, ignoring case and accents. A code matches with or without leading zeros and its `/total`',
  examples: ['charizard 4/102'],
})

export const QueryParam = Type.String({
  minLength: 1,
  maxLength: 500,
  description:
    'Field query: terms such as `set:base1`, `number:4`, `name:"dark charizard"`, `r>=rare`, `finish:holo`, `lang:ja`, `price<20`, `price.source_a>=5`, `label:"PSA 10"` and words as in `search`. All terms must match; use `or` and parentheses to group and `-` to negate. The response returns the canonical form as `query`. Starter cannot use the fields of attributes and details: `rarity`, `finish`, `lang`, `illustrator`, `card`, `type`, `regulation`, `product` and `hp`',
  examples: ['set:base1 r>=rare -finish:first-edition'],
})

export const UpdatedSinceParam = moment(
  'Only items that changed at this time or later: their own data, or a price of any market that was added, changed or reverted. Compared with the time the service recorded the change, not with the date of the price in its feed. A price confirmed at the same amount, new evidence for a price and a renamed category do not count as changes',
)

export const SortByParam = Type.Enum([...SORT_FIELDS], {
  default: 'name',
  description:
    '`price` is the Near Mint price, otherwise the lowest ungraded price, of the market shown. Prices in different currencies are compared in lira at daily rates. Items without a price or a rate come last in both directions',
})

export const SortOrderParam = Type.Enum([...SORT_DIRECTIONS], { default: 'asc', description: 'Ties are sorted by id' })

export const StatsParam = Type.Boolean({
  default: false,
  description:
    '`1` adds to each price `currency`, `state`, `confidence`, `flags`, `confirmed_at`, `avg_7`, `avg_30`, `low` and `high`. Professional and above; ignored for Starter',
})

/** A cursor contains the sort value of a row, and a name has at most a few hundred characters. */
export const AfterParam = Type.String({ maxLength: 8_000, description: 'The `endCursor` of the previous page' })

/** An id in a request is an integer of any size; one that is larger than every stored id is not found. */
export const IdParam = Type.Integer({ description: 'Id', examples: [1] })

/**
 * The canonical label for a `label` parameter.
 * @throws VALIDATION_ERROR for what is neither a condition nor a grade
 */
export function labelParam(label: string): string {
  const parsed = parseLabel(label)
  if (!parsed) throw invalid('label', 'label', { value: label })
  return parsed.label
}
