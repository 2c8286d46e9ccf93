// The explanation of a price as returned by verbs.

import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import { CONFIDENCES, FLAGS, STATES } from '../evidence/evidence-types.ts'
import { CostToMoveSchema } from '../own/cost-to-move-schema.ts'

/** How a price is determined. */
export const PRICE_RULES = {
  /** the amount stated in a feed */
  latest_statement: { name: 'latest_statement', version: 1 },
  /** the weighted median of the prices of pairs of seller and buyer in the service's own market */
  median_of_pairs: { name: 'median_of_pairs', version: 1 },
} as const

type RuleName = keyof typeof PRICE_RULES

export const INPUT_KINDS = ['statement', 'confirmation', 'sale', 'avg_1', 'avg_7', 'avg_30', 'low', 'mid', 'high', 'market'] as const

export type InputKind = (typeof INPUT_KINDS)[number]

/** Why an input was used or not, as in the API reference. */
export const INPUT_REASONS = {
  sets_price: 'the price is this amount',
  confirms: 'the source stated the same amount again',
  in_median: 'its pair of seller and buyer is one of those whose weighted median the price is',
  cancelled: 'the sale was cancelled',
  too_old: 'the sale is older than 90 days',
  same_order: 'only the first line of an order counts',
  own_purchase: 'the seller bought it',
  sold_back: 'the buyer sold the card to the seller within 60 days',
  above_asks: 'another seller offered it for less than a 1.25th of the price, for at least two days',
  older_pair: 'ten pairs of seller and buyer have newer sales',
  compared: 'the price was compared with it when it was judged',
  not_compared: 'shown for information; lows and highs are not evidence against a price',
  no_rate: 'its currency has no exchange rate',
  other_time: 'the two prices were stated too far apart in time to be compared',
  own_sales: "prices from the service's own sales are not evidence about other markets",
  not_trusted: 'the price is not trusted, so our own price is not compared with it',
  no_price: 'the item has no price to compare it with',
} as const

export type InputReason = keyof typeof INPUT_REASONS

const ConditionKnown = Type.Boolean({
  description:
    'Whether the amount is of the condition or grade of the label; false for a trend or average over all conditions, such as that of the Cardmarket price guide',
})

const Time = Type.String({ format: 'date-time', description: 'UTC' })

export const COMPARISON_LEVELS = ['agree', 'doubt', 'conflict'] as const

export const ComparisonSchema = Type.Object(
  {
    converted: Type.Number({ description: 'The other amount converted to the currency of the price by `rates`' }),
    usual_ratio: Type.Number({ description: 'Usual price in this market for an amount of 1 in the other; 1 if unknown' }),
    usual_spread: Type.Number({ description: 'Factor within which about two thirds of the cards deviate from that ratio' }),
    cards: Type.Integer({ description: 'Number of cards of the set and finish, or of the game, the ratio is based on' }),
    learned_ratio: orNull(Type.Number(), {
      description:
        'Ratio that the cards of the set have, if it is more than 3 times that of the game and `usual_ratio` is used until an operator confirms it; otherwise null',
    }),
    expected: Type.Number({ description: 'Expected price: `converted` × `usual_ratio`' }),
    times_off: Type.Number({ description: 'Factor between the price and the expected price' }),
    level: Type.Enum([...COMPARISON_LEVELS], {
      description:
        "`agree`: less than `noise` or `doubt_factor` apart; `conflict`: at least `market_factor` and `usual_spread` to the power of `market_spreads`, times `condition_factor` if the condition of the lower price is not known; `doubt`: in between; counts only if the feed's own figures point the same way",
    }),
  },
  { title: 'ExplainedComparison', description: 'Comparison of a price with one of another market' },
)

const FindingSchema = Type.Object(
  {
    rule: Type.Enum([...FLAGS]),
    version: Type.Integer({ description: 'Incremented when the rule changes' }),
    market: orNull(Type.Enum([...MARKETS]), { description: 'Market of the price it was compared with; null for rules about a single price' }),
    compared: orNull(Type.Number(), { description: 'What the price was compared with, in its own currency' }),
    times_off: orNull(Type.Number(), { description: 'Factor between the price and the expected price' }),
    counts: Type.Boolean({ description: 'Whether it contradicts the price; false if other evidence settled it in favour of the price' }),
  },
  { title: 'PriceFinding', description: 'A finding of a rule about a price' },
)

export const ThresholdsSchema = Type.Object(
  {
    noise: Type.Number({ description: 'Differences below this amount, in `currency`, are ignored as noise' }),
    own_factor: Type.Number({ description: 'Setting `PRICE_OWN_FACTOR`' }),
    offer_factor: Type.Number({ description: 'Setting `PRICE_OFFER_FACTOR`' }),
    market_factor: Type.Number({ description: 'Setting `PRICE_MARKET_FACTOR`' }),
    market_spreads: Type.Number({ description: 'Setting `PRICE_MARKET_SPREADS`' }),
    condition_factor: Type.Number({ description: 'Setting `PRICE_CONDITION_FACTOR`' }),
    doubt_factor: Type.Number({ description: 'Setting `PRICE_DOUBT_FACTOR`' }),
    agree_factor: Type.Number({ description: 'Setting `PRICE_AGREE_FACTOR`' }),
    comparable_days: Type.Number({ description: 'Setting `PRICE_COMPARABLE_DAYS`' }),
  },
  { title: 'PriceThresholds', description: '`PRICE_*` settings used to compare the price' },
)

const ExplainInputSchema = Type.Object(
  {
    kind: Type.Enum([...INPUT_KINDS], {
      description:
        "`statement`: a price stated by a feed; `confirmation`: the feed stated it again; `sale`: one unit sold in the service's market; `avg_1` to `high`: the feed's own figures; `market`: the price of another market",
    }),
    market: Type.Enum([...MARKETS]),
    amount: Type.Number({ description: 'In `currency`' }),
    currency: Type.String({ description: 'ISO 4217 code' }),
    at: Time,
    import_id: orNull(Type.Integer(), { description: 'Import or price post that set it; null for sales' }),
    line: orNull(Type.Integer(), { description: 'Line number in the file, if known' }),
    used: Type.Boolean({ description: 'Whether the price uses this input' }),
    condition_known: ConditionKnown,
    state: Type.Optional(Type.Enum([...STATES], { description: 'Only for prices of other markets' })),
    flags: Type.Optional(Type.Array(Type.Enum([...FLAGS]), { description: 'Only for prices of other markets: evidence against them' })),
    pair: Type.Optional(Type.Integer({ description: 'Only for sales: number of the pair of seller and buyer, from 1, within this explanation' })),
    weight: Type.Optional(Type.Integer({ description: 'Only for sales that are used: weight of the pair, in proportion to the others' })),
    reason: Type.Enum(Object.keys(INPUT_REASONS) as InputReason[], {
      description: Object.entries(INPUT_REASONS)
        .map(([name, words]) => `\`${name}\`: ${words}`)
        .join('; '),
    }),
    comparison: orNull(ComparisonSchema, {
      description: 'Comparison with the price, for compared prices of other markets; otherwise null',
    }),
  },
  { title: 'PriceExplanationInput', description: 'An input a price was computed from or compared with' },
)

export type ExplainInput = Static<typeof ExplainInputSchema>

export const PriceExplanationSchema = Type.Object(
  {
    item_id: Type.Integer(),
    market: Type.Enum([...MARKETS]),
    label: Type.String({ examples: ['Near Mint'] }),
    price: orNull(Type.Number(), { description: 'null if the item has no price in this market for this label' }),
    currency: Type.String({ description: 'ISO 4217 code' }),
    updated_at: orNull(Time),
    confirmed_at: orNull(Time, { description: 'When a feed last stated the price' }),
    state: orNull(Type.Enum([...STATES])),
    confidence: orNull(Type.Enum([...CONFIDENCES])),
    flags: Type.Array(Type.Enum([...FLAGS])),
    condition_known: orNull(ConditionKnown),
    samples: orNull(Type.Integer(), { description: "Number of sales or offers behind the feed's figures" }),
    rule: orNull(
      Type.Object(
        {
          name: Type.Enum(Object.keys(PRICE_RULES) as RuleName[], {
            description:
              '`latest_statement`: the amount of the input `statement`; `median_of_pairs`: the price of a pair is the median of its sales, and this is the median of the pairs by `weight`; the mean of the two middle ones is rounded half up to kuruş',
          }),
          version: Type.Integer({ description: 'Incremented when the rule changes' }),
        },
        { title: 'PriceRule', description: 'A rule that computes or evaluates a price' },
      ),
    ),
    judged_by: Type.Array(Type.Object({ name: Type.Enum([...FLAGS]), version: Type.Integer() }, { title: 'EvidenceRule' }), {
      description: 'Rules that set `state` and `flags`',
    }),
    summary: Type.String({
      description: 'One sentence in English: what was compared, how far apart it is, which price is followed and why',
      examples: ['Two markets differ 9-fold (Cardmarket and TCGplayer); ours follows TCGplayer, because PriceCharting agrees with it.'],
    }),
    cost_to_move_10pct: Type.Optional(orNull(CostToMoveSchema)),
    findings: Type.Array(FindingSchema, { description: 'All findings of the rules about the price, evaluated now' }),
    confirmed_by_person_at: orNull(Time, {
      description: 'When a person confirmed the price, which overrides the findings; null if it was not confirmed',
    }),
    thresholds: orNull(ThresholdsSchema),
    inputs: Type.Array(ExplainInputSchema, { description: 'Inputs the price was computed from and compared with' }),
    rates: Type.Array(
      Type.Object(
        {
          currency: Type.String({ description: 'ISO 4217 code' }),
          rate: Type.Number({ description: 'Turkish lira for one unit' }),
          day: Type.String({ description: 'Day of the rate', format: 'date' }),
        },
        { title: 'UsedRate', description: 'An exchange rate used to compare prices of other markets' },
      ),
      { description: 'Exchange rates used to compare prices of other markets' },
    ),
    medians: Type.Object(
      {
        '7d': orNull(Type.Number()),
        '30d': orNull(Type.Number()),
        '90d': orNull(Type.Number()),
      },
      {
        title: 'PriceMedians',
        description: 'Medians of the prices at this time on each of the last 7, 30 and 90 days, including today; null if there was no price',
      },
    ),
  },
  { title: 'PriceExplanation' },
)

export type PriceExplanation = Static<typeof PriceExplanationSchema>
