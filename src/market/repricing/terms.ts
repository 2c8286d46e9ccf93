// Terms of a repricing rule: as sent, and with amounts in kuruş.
import { invalid, invalidFields } from '#core/errors.ts'
import { boundedId, filter, MAX_INTEGER, name, orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { MARKETS, type Market } from '#core/markets.ts'
import { minorOfNumber } from '#core/money.ts'
import { reason } from '#core/problems.ts'
import { MIN_COMPARABLES } from '../records/comparables.ts'
import { FAR_FACTOR } from '../records/market-price.ts'
import { MAX_PRICE, MAX_SKU_LENGTH, MIN_PRICE } from '../records/fields.ts'

export const MAX_SCOPE_ENTRIES = 1_000
const MAX_FACTOR = 100
const MAX_MOVE_PERCENT = 100
const MAX_COMPARABLES = 100
const DEFAULT_MOVE_PERCENT = 20

const AMOUNT = reason('number', { min: -MAX_PRICE, max: MAX_PRICE, decimals: 2 })
const LIMIT = reason('number', { min: MIN_PRICE, max: MAX_PRICE, decimals: 2 })

const closed = { additionalProperties: false } as const
const limit = (description: string) => Type.Number({ minimum: MIN_PRICE, maximum: MAX_PRICE, allowed: LIMIT, description })
const factor = (of: string) =>
  Type.Number({ minimum: 0.01, maximum: MAX_FACTOR, description: `Factor applied to: ${of}; up to four decimals`, examples: [0.95] })

const TargetSchema = Type.Union(
  [
    Type.Object(
      {
        kind: Type.Literal('market'),
        market: Type.Enum([...MARKETS]),
        factor: factor('the trusted price of the item and grade in the market, in lira'),
      },
      { ...closed, title: 'MarketTarget' },
    ),
    Type.Object(
      {
        kind: Type.Literal('cheapest'),
        amount: Type.Number({
          minimum: -MAX_PRICE,
          maximum: MAX_PRICE,
          allowed: AMOUNT,
          description: 'In TL, added to the cheapest comparable listing of another seller; negative to undercut it',
          examples: [-5],
        }),
      },
      { ...closed, title: 'CheapestTarget' },
    ),
    Type.Object(
      {
        kind: Type.Literal('median_sales'),
        factor: factor("the median of other sellers' sales of the item and grade, the last one of each buyer, in the last 90 days"),
      },
      { ...closed, title: 'MedianSalesTarget' },
    ),
  ],
  { description: 'Basis of the computed prices' },
)

const ScopeSchema = Type.Union(
  [
    Type.Object({ kind: Type.Literal('all') }, { ...closed, title: 'AllListings' }),
    Type.Object(
      {
        kind: Type.Literal('listings'),
        ids: Type.Array(Type.Integer({ minimum: 1, maximum: MAX_INTEGER }), { minItems: 1, maxItems: MAX_SCOPE_ENTRIES }),
      },
      { ...closed, title: 'ListingsById' },
    ),
    Type.Object(
      {
        kind: Type.Literal('skus'),
        skus: Type.Array(Type.String({ minLength: 1, maxLength: MAX_SKU_LENGTH }), { minItems: 1, maxItems: MAX_SCOPE_ENTRIES }),
      },
      { ...closed, title: 'ListingsBySku' },
    ),
    Type.Object(
      {
        kind: Type.Literal('items'),
        game: filter('Game of the item'),
        category_id: boundedId('Category of the item; everything below it is included'),
      },
      { ...closed, title: 'ListingsByItem' },
    ),
  ],
  { description: 'Which of your published listings; a listing that matches an earlier enabled rule belongs to that rule' },
)

const FloorSchema = Type.Object(
  {
    price: Type.Optional(limit('Lowest price, in TL')),
    payout: Type.Optional(limit('Lowest payout of one unit, in TL; the price limit is derived from it and the commission')),
  },
  { ...closed, title: 'RepricingFloor', description: 'No price is set below it; if both are given, the higher one applies' },
)

export const TermFields = {
  target: TargetSchema,
  scope: ScopeSchema,
  floor: FloorSchema,
  ceiling: Type.Optional(
    // The comparison of releases finds the alternative again by its description.
    orNull(limit('Highest price, in TL; null for no limit'), {
      description: `Without it, \`cheapest\` and \`median_sales\` do not raise a price above ${FAR_FACTOR} times the trusted market price, and do not raise it at all if there is none`,
    }),
  ),
  max_move_percent: Type.Optional(
    orNull(
      Type.Number({
        minimum: 1,
        maximum: MAX_MOVE_PERCENT,
        default: DEFAULT_MOVE_PERCENT,
        description: 'Largest change per run, in percent of the previous price; null for no limit',
      }),
    ),
  ),
  min_comparables: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_COMPARABLES,
      description: `Prices stay unchanged if fewer other sellers have a comparable listing, or if there are fewer sales; default: ${MIN_COMPARABLES}. A market has one price`,
    }),
  ),
}

export const RuleName = name('Name of the rule')

const TermsSchema = Type.Object(TermFields)
/** The terms as sent, stored and returned. */
export type SentTerms = Static<typeof TermsSchema>
export type Scope = SentTerms['scope']

/** The terms as stored and compared: fields with a default are absent unless they were sent. */
export function storedTerms({ target, scope, floor, ceiling, max_move_percent, min_comparables }: SentTerms): SentTerms {
  return {
    target,
    scope,
    floor,
    ...(typeof ceiling === 'number' && { ceiling }),
    ...(max_move_percent !== undefined && { max_move_percent }),
    ...(min_comparables !== undefined && { min_comparables }),
  }
}

/** The limits that apply, with their defaults. */
export function defaultsOf({ target, max_move_percent, min_comparables }: SentTerms): Pick<Terms, 'maxMovePercent' | 'minComparables'> {
  return {
    maxMovePercent: max_move_percent === undefined ? DEFAULT_MOVE_PERCENT : max_move_percent,
    minComparables: min_comparables ?? (target.kind === 'market' ? 1 : MIN_COMPARABLES),
  }
}

export type Target =
  | { kind: 'market'; market: Market; factor: number }
  | { kind: 'cheapest'; amountKurus: number }
  | { kind: 'median_sales'; factor: number }

/** The terms that determine a price; amounts in kuruş. */
export interface Terms {
  target: Target
  floorKurus: number | null
  floorPayoutKurus: number | null
  /** null: see `ceiling` */
  ceilingKurus: number | null
  maxMovePercent: number | null
  minComparables: number
}

/** @throws VALIDATION_ERROR naming the field: no floor, a floor above the ceiling, or a third decimal */
export function termsOf(terms: SentTerms): Terms {
  const { target, scope, floor, ceiling, min_comparables } = terms
  if (floor.price === undefined && floor.payout === undefined) throw invalid('floor', 'at_least_one', { fields: ['price', 'payout'] })
  if (scope.kind === 'items' && scope.game === undefined && scope.category_id === undefined) {
    throw invalid('scope', 'at_least_one', { fields: ['game', 'category_id'] })
  }
  if (target.kind === 'market' && (min_comparables ?? 1) > 1)
    throw invalidFields([{ field: 'min_comparables', ...reason('one_of', { values: [1] }) }])
  const floorKurus = floor.price === undefined ? null : kurusOf('floor.price', floor.price)
  const ceilingKurus = ceiling === undefined || ceiling === null ? null : kurusOf('ceiling', ceiling)
  if (floorKurus !== null && ceilingKurus !== null && ceilingKurus < floorKurus)
    throw invalid('ceiling', 'not_below', { field: 'floor', min: floorKurus / 100 })
  return {
    target: target.kind === 'cheapest' ? { kind: target.kind, amountKurus: signedKurus(target.amount) } : target,
    floorKurus,
    floorPayoutKurus: floor.payout === undefined ? null : kurusOf('floor.payout', floor.payout),
    ceilingKurus,
    ...defaultsOf(terms),
  }
}

function kurusOf(field: string, amount: number): number {
  const kurus = minorOfNumber(amount)
  if (kurus === null) throw invalidFields([{ field, ...LIMIT }])
  return kurus
}

function signedKurus(amount: number): number {
  const kurus = minorOfNumber(Math.abs(amount))
  if (kurus === null) throw invalidFields([{ field: 'target.amount', ...AMOUNT }])
  return amount < 0 ? -kurus : kurus
}
