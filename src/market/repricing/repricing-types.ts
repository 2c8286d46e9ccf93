// Repricing rules and their results as returned by verbs.
import type { CatalogueNode } from '#catalogue/context.ts'
import { orNull } from '#core/fields.ts'
import { ReasonFields, type Static, Type } from '#core/input.ts'
import type { MarketCtx } from '../marketplace-types.ts'
import { PRICE_LIMITS } from './new-price.ts'
import { TermFields } from './terms.ts'

/** The context for computing prices: the marketplace, and prices of other markets. */
export type RepricingCtx = MarketCtx & Pick<CatalogueNode, 'catalogue'>

const TimeOrNull = (description: string) => orNull(Type.String({ format: 'date-time', description: `${description}; local time with offset` }))

export const RepricingRuleSchema = Type.Object(
  {
    id: Type.Integer({ description: 'Unique id' }),
    name: Type.String({ description: 'Name of the rule' }),
    enabled: Type.Boolean({ description: 'Whether it runs every hour' }),
    target: TermFields.target,
    scope: TermFields.scope,
    floor: TermFields.floor,
    ceiling: orNull(Type.Number(), { description: 'null: the market price limits raises' }),
    max_move_percent: orNull(Type.Number(), { description: 'null for no limit' }),
    min_comparables: Type.Integer({
      description: 'Prices stay unchanged if fewer other sellers have a comparable listing, or if there are fewer sales; default: 3',
    }),
    simulated_at: TimeOrNull('When its current terms were last simulated'),
    last_run_at: TimeOrNull('When it last ran'),
  },
  { title: 'RepricingRule' },
)
export type RepricingRule = Static<typeof RepricingRuleSchema>

export const RepricedListingSchema = Type.Object(
  {
    listing_id: Type.Integer({ description: 'Id of the listing' }),
    price: Type.Number({ description: 'Current price, in TL' }),
    new_price: Type.Number({ description: 'Price the rule would set, in TL' }),
    payout: Type.Number({ description: 'Your payout for one unit at that price, in TL' }),
    limit: orNull(Type.Enum([...PRICE_LIMITS]), { description: 'Limit that kept the price from its target' }),
    follows: orNull(
      Type.Object(
        { listing_id: Type.Integer({ description: 'Id of the listing' }), price: Type.Number({ description: 'In TL' }) },
        { title: 'FollowedPrice', description: 'The competing listing that a price follows' },
      ),
      {
        description: 'The cheapest comparable listing, if the target is computed from it',
      },
    ),
    reason: Type.Object({ message: Type.String(), ...ReasonFields }, { description: 'Why it sets or keeps the price' }),
    warnings: Type.Array(Type.Object({ message: Type.String(), ...ReasonFields }), {
      description: 'What to check about the new price, as in price jobs: a large change, a price far from the market, or one below the cost',
    }),
  },
  { title: 'RepricedListing' },
)
export type RepricedListing = Static<typeof RepricedListingSchema>

const SimulatedDaySchema = Type.Object(
  {
    day: Type.String({ format: 'date', description: 'UTC' }),
    known: Type.Integer({ description: 'Listings with a known target on that day' }),
    raised: Type.Integer({ description: 'Listings with a price increase' }),
    lowered: Type.Integer({ description: 'Listings with a price decrease' }),
    at_floor: Type.Integer({ description: 'Listings kept from their target by the floor' }),
    average_price: orNull(Type.Number(), { description: 'Average price of the listings at the end of the day, in TL' }),
  },
  { title: 'SimulatedDay', description: 'What a rule would have done on one day' },
)
export type SimulatedDay = Static<typeof SimulatedDaySchema>

export const SimulationSchema = Type.Object(
  {
    rule_id: Type.Integer(),
    listings_total: Type.Integer({ description: 'Listings the rule currently applies to' }),
    changed: Type.Integer({ description: 'Listings whose price would change now' }),
    listings: Type.Array(RepricedListingSchema, { description: 'The first listings by id, including unchanged ones' }),
    days: Type.Array(SimulatedDaySchema, { description: 'What it would have done on each previous day, oldest first' }),
  },
  { title: 'RepricingSimulation', description: 'What a rule would do now and would have done on previous days' },
)
export type Simulation = Static<typeof SimulationSchema>

export const RepricingRunSchema = Type.Object(
  {
    rule_id: Type.Integer(),
    listings_total: Type.Integer({ description: 'Listings the rule currently applies to' }),
    changed: Type.Integer({ description: 'Listings whose price changed' }),
    failed: Type.Integer({ description: 'Listings that changed in the meantime or cannot be changed' }),
    job_id: orNull(Type.Integer(), { description: 'Price job with a row for each change; null if nothing changed' }),
  },
  { title: 'RepricingRun', description: 'Result of a run of a rule' },
)
export type RepricingRun = Static<typeof RepricingRunSchema>
