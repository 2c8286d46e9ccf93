// Repricing rules and what they do, as verbs give them.
import type { CatalogueNode } from '#catalogue/context.ts'
import { orNull } from '#core/fields.ts'
import { ReasonFields, type Static, Type } from '#core/input.ts'
import type { MarketCtx } from '../types.ts'
import { PRICE_LIMITS } from './new-price.ts'
import { TermFields } from './terms.ts'

/** What computing prices needs beside the marketplace: prices of other markets. */
export type RepricingCtx = MarketCtx & Pick<CatalogueNode, 'catalogue'>

const TimeOrNull = (description: string) => orNull(Type.String({ format: 'date-time', description: `${description}; local time with offset` }))

export const RepricingRuleSchema = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    enabled: Type.Boolean({ description: 'Whether it runs every hour' }),
    target: TermFields.target,
    scope: TermFields.scope,
    floor: TermFields.floor,
    ceiling: orNull(Type.Number()),
    max_move_percent: orNull(Type.Number()),
    min_comparables: Type.Integer(),
    simulated_at: TimeOrNull('When it was last simulated as it is now'),
    last_run_at: TimeOrNull('When it last ran'),
  },
  { title: 'RepricingRule' },
)
export type RepricingRule = Static<typeof RepricingRuleSchema>

const RepricedListingSchema = Type.Object(
  {
    listing_id: Type.Integer(),
    price: Type.Number({ description: 'Now, in TL' }),
    new_price: Type.Number({ description: 'What the rule would set, in TL' }),
    payout: Type.Number({ description: 'What a sale of one unit would then pay you, in TL' }),
    limit: orNull(Type.Enum([...PRICE_LIMITS]), { description: 'What kept the price from its target' }),
    reason: Type.Object({ message: Type.String(), ...ReasonFields }),
  },
  { title: 'RepricedListing' },
)
export type RepricedListing = Static<typeof RepricedListingSchema>

const SimulatedDaySchema = Type.Object(
  {
    day: Type.String({ format: 'date', description: 'UTC' }),
    known: Type.Integer({ description: 'Listings whose target was known on that day' }),
    raised: Type.Integer(),
    lowered: Type.Integer(),
    at_floor: Type.Integer({ description: 'Listings that the floor kept from their target' }),
    average_price: orNull(Type.Number(), { description: 'Of the listings at the end of the day, in TL' }),
  },
  { title: 'SimulatedDay' },
)
export type SimulatedDay = Static<typeof SimulatedDaySchema>

export const SimulationSchema = Type.Object(
  {
    rule_id: Type.Integer(),
    listings_total: Type.Integer({ description: 'Listings that the rule has now' }),
    changed: Type.Integer({ description: 'Those whose price it would change now' }),
    listings: Type.Array(RepricedListingSchema, { description: 'The first of them by id, with those that stay' }),
    days: Type.Array(SimulatedDaySchema, { description: 'What it would have done on each day before, oldest first' }),
  },
  { title: 'RepricingSimulation' },
)
export type Simulation = Static<typeof SimulationSchema>

export const RepricingRunSchema = Type.Object(
  {
    rule_id: Type.Integer(),
    listings_total: Type.Integer({ description: 'Listings that the rule has now' }),
    changed: Type.Integer({ description: 'Those whose price it has changed' }),
    failed: Type.Integer({ description: 'Those that changed meanwhile, or may not be changed' }),
    job_id: orNull(Type.Integer(), { description: 'The price job with a row for each change; null without one' }),
  },
  { title: 'RepricingRun' },
)
export type RepricingRun = Static<typeof RepricingRunSchema>
