// Explains the computed figures of a listing with all inputs needed to recompute them.
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import { minorToNumber } from '#core/money.ts'
import { localTime } from '#core/time.ts'
import { stateOf } from '#prices/evidence/evidence-payload.ts'
import { STATES } from '#prices/evidence/evidence-types.ts'
import { type ListingState, SOURCE_A } from './state.ts'

const RULES = {
  price_over_source_a: { name: 'price_over_source_a', version: 1 },
  mean_of_last_sales: { name: 'mean_of_last_sales', version: 1 },
} as const

const REASONS = ['compared_price', 'divisor', 'in_mean', 'not_trusted'] as const

const FigureInputSchema = Type.Object(
  {
    kind: Type.Enum(['listing', 'market', 'sale'], { description: 'Price of the listing, a market or a sale' }),
    market: Type.Enum([...MARKETS]),
    amount: Type.Number({ description: 'In `currency`' }),
    currency: Type.String({ description: 'ISO 4217 code' }),
    at: orNull(Type.String({ format: 'date-time', description: 'Local time with offset; null for the listing, whose price is current' })),
    state: orNull(Type.Enum([...STATES]), { description: 'State of a market price; only trusted prices are used' }),
    used: Type.Boolean({ description: 'Whether the figure uses this input' }),
    reason: Type.Enum([...REASONS]),
  },
  { title: 'FigureInput', description: 'An input of a figure' },
)

const FigureSchema = Type.Object(
  {
    result: orNull(Type.Number(), { description: 'null if there are no inputs' }),
    rule: Type.Object(
      {
        name: Type.Enum(Object.keys(RULES) as (keyof typeof RULES)[], {
          description:
            '`price_over_source_a`: `listing` ÷ `market`, rounded half up to hundredths; `mean_of_last_sales`: mean of the `sale` inputs, rounded half up to kuruş',
        }),
        version: Type.Integer({ description: 'Incremented when the rule changes' }),
      },
      { title: 'FigureRule', description: 'A rule that computes a figure' },
    ),
    inputs: Type.Array(FigureInputSchema, { description: 'Inputs it is computed from' }),
  },
  { title: 'ComputedFigure', description: 'A figure and its inputs' },
)
type Figure = Static<typeof FigureSchema>
type FigureInput = Static<typeof FigureInputSchema>

export const ListingExplanationSchema = Type.Object(
  {
    pc_multiplier: FigureSchema,
    average_price: FigureSchema,
  },
  { title: 'ListingExplanation', description: 'Rules and inputs of `pc_multiplier` and `average_price`' },
)
export type ListingExplanation = Static<typeof ListingExplanationSchema>

/** The properties of a listing that its comparison uses. */
export interface ComparedListing {
  itemId: number
  labelId: number
  kurus: number
}

export function explainListing(state: ListingState, catalogue: Catalogue, listing: ComparedListing): ListingExplanation {
  return { pc_multiplier: multiplier(state, catalogue, listing), average_price: average(state, catalogue, listing.itemId) }
}

function multiplier(state: ListingState, { items, currencies }: Catalogue, { itemId, labelId, kurus }: ComparedListing): Figure {
  const hundredths = state.pcHundredths(itemId, labelId, kurus)
  const isKnown = !Number.isNaN(hundredths)
  const inputs: FigureInput[] = [
    {
      kind: 'listing',
      market: 'service',
      amount: minorToNumber(kurus),
      currency: currencies.service,
      at: null,
      state: null,
      used: isKnown,
      reason: 'compared_price',
    },
  ]
  const at = state.sourcePrice(itemId, labelId)
  if (at >= 0) {
    const { minor, updatedAtMs, verdict } = items.prices
    inputs.push({
      kind: 'market',
      market: MARKETS[SOURCE_A]!,
      amount: minorToNumber(minor[at]!),
      currency: currencies[MARKETS[SOURCE_A]!],
      at: localTime(new Date(updatedAtMs.at(at)), state.zone),
      state: stateOf(verdict[at]!),
      used: isKnown,
      reason: isKnown ? 'divisor' : 'not_trusted',
    })
  }
  return { result: isKnown ? hundredths / 100 : null, rule: RULES.price_over_source_a, inputs }
}

function average({ sales }: ListingState, { currencies }: Catalogue, itemId: number): Figure {
  const kurus = sales.averageKurus(itemId)
  const inputs = sales.last(itemId).map(
    ({ price, sold_at }): FigureInput => ({
      kind: 'sale',
      market: 'service',
      amount: price,
      currency: currencies.service,
      at: sold_at,
      state: null,
      used: true,
      reason: 'in_mean',
    }),
  )
  return { result: kurus === null ? null : minorToNumber(kurus), rule: RULES.mean_of_last_sales, inputs }
}
