// The type Price with its evidence and explanation (interface.md, "Item (GraphQL)").
import { explainConditions } from '#catalogue/items/explain-price.ts'
import { evidenceOf, type ItemPrice, utcTime } from '#catalogue/snapshot/item-json.ts'
import { DAY_MS } from '#core/duration.ts'
import { MARKETS } from '#core/markets.ts'
import { minorToNumber } from '#core/money.ts'
import { COMPARISON_LEVELS, explainPrices, INPUT_KINDS, INPUT_REASONS, PRICE_RULES, type PriceExplanation } from '#prices/reviews/explain.ts'
import { CONFIDENCES, FLAGS, STATES } from '#prices/evidence/types.ts'
import { pricesAgo } from '#prices/history/prices-ago.ts'
import { batched } from '../execution/batched.ts'
import { type Builder, cost, fromDatabase } from '../building/builder.ts'
import type { GraphqlCtx } from '../execution/context.ts'

/** Days of the changes. */
const CHANGE_DAYS = [7, 30] as const
/** The cost of a change besides its value, and of an explanation: each reads the history. */
const CHANGE_COST = 4
const EXPLAIN_COST = 10

const changesOf = batched(async ({ catalogue, db, now }: GraphqlCtx, prices: ItemPrice[]) => {
  const nowMs = now().getTime()
  const moments = CHANGE_DAYS.map((days) => new Date(nowMs - days * DAY_MS))
  const keys = prices.map(({ row, market, labelId }) => ({ itemId: catalogue.items.id[row]!, market, labelId }))
  const ago = await pricesAgo(db.kysely, keys, moments)
  return prices.map(({ minor }, i) => ago[i]!.map((before) => (before === null ? null : Math.round((minor / before - 1) * 10_000) / 100)))
})

const explanationOf = batched((ctx: GraphqlCtx, prices: ItemPrice[]) => {
  const { catalogue, db } = ctx
  const keys = prices.map(({ row, market, labelId, label }) => ({ itemId: catalogue.items.id[row]!, market, labelId, label }))
  return explainPrices(db.kysely, keys, explainConditions(ctx, catalogue.rates))
})

const oneOf = (values: readonly string[]) => values.map((value) => `\`${value}\``).join(', ')
const amountOrNull = (minor: number | null) => (minor === null ? null : minorToNumber(minor))

export function addPriceType(builder: Builder) {
  const explanation = addExplanationType(builder)
  return builder.objectRef<ItemPrice>('Price').implement({
    description: 'The current price of an item in one market for one condition or grade.',
    fields: (t) => {
      const figure = (description: string, of: 'avg7' | 'avg30' | 'low' | 'high') =>
        t.float({
          description: `${description} null if the feed has none.`,
          resolve: ({ at }, _args, { catalogue }) => amountOrNull(evidenceOf(catalogue.items, at)[of]),
        })
      const change = (position: 0 | 1) =>
        t.float({
          description: `Change in percent since ${CHANGE_DAYS[position]} days ago, from the price history; null if there was no price then.`,
          extensions: { ...cost({ entries: CHANGE_COST }), ...fromDatabase },
          resolve: async (price, _args, ctx) => (await changesOf(ctx, price))[position]!,
        })
      return {
        market: t.string({
          nullable: false,
          description: 'Code of the market: `service`, `source_a`, `source_b` or `source_c` (see `Market`).',
          resolve: ({ market }) => MARKETS[market]!,
        }),
        label: t.exposeString('label', { nullable: false, description: 'Condition or grade, such as `Near Mint` or `PSA 10`.' }),
        price: t.float({ description: 'Amount in `currency`.', resolve: ({ minor }) => minorToNumber(minor) }),
        currency: t.string({
          nullable: false,
          description: "ISO 4217 code: TRY for the service's own market, the source's currency for the others.",
          resolve: ({ market }, _args, { currencies }) => currencies[MARKETS[market]!],
        }),
        updatedAt: t.string({
          description: 'When the price was last set, in ISO 8601, UTC.',
          resolve: ({ updatedAtMs }) => utcTime(updatedAtMs),
        }),
        state: t.string({
          description: `${oneOf(STATES)}: whether evidence contradicts the price.`,
          resolve: ({ at }, _args, { catalogue }) => evidenceOf(catalogue.items, at).state,
        }),
        confidence: t.string({
          description: `${oneOf(CONFIDENCES)}, derived from the number of sources that agree, sample size, age and spread.`,
          resolve: ({ at }, _args, { catalogue }) => evidenceOf(catalogue.items, at).confidence,
        }),
        flags: t.stringList({
          description: `Evidence against the price, and checks that were not possible: any of ${oneOf(FLAGS)}.`,
          extensions: cost({ entries: 1 }),
          resolve: ({ at }, _args, { catalogue }) => evidenceOf(catalogue.items, at).flags,
        }),
        confirmedAt: t.string({
          description: 'When a feed last stated the price, to the minute, in ISO 8601, UTC.',
          resolve: ({ at }, _args, { catalogue }) => utcTime(evidenceOf(catalogue.items, at).confirmedAtMs),
        }),
        avg7: figure("The feed's own 7-day average, in `currency`.", 'avg7'),
        avg30: figure("The feed's own 30-day average, in `currency`.", 'avg30'),
        low: figure("The feed's own lowest price, in `currency`.", 'low'),
        high: figure("The feed's own highest price, in `currency`.", 'high'),
        change7: change(0),
        change30: change(1),
        explain: t.field({
          type: explanation,
          description: 'Explains the price: its rules, inputs and evidence.',
          extensions: { ...cost({ weight: EXPLAIN_COST }), ...fromDatabase },
          resolve: (price, _args, ctx) => explanationOf(ctx, price),
        }),
      }
    },
  })
}

function addExplanationType(builder: Builder) {
  const rule = builder.objectRef<{ name: string; version: number }>('PriceRule').implement({
    description: 'A rule that computes or evaluates a price.',
    fields: (t) => ({
      name: t.exposeString('name', { nullable: false, description: `${oneOf(Object.keys(PRICE_RULES))}, or the name of a flag.` }),
      version: t.exposeInt('version', { nullable: false, description: 'Incremented when the rule changes.' }),
    }),
  })
  const comparison = builder.objectRef<NonNullable<PriceExplanation['inputs'][number]['comparison']>>('ExplainedComparison').implement({
    description: 'Comparison of a price with one of another market.',
    fields: (t) => ({
      converted: t.exposeFloat('converted', { nullable: false, description: 'The other amount converted to the currency of the price by `rates`.' }),
      usualRatio: t.float({
        nullable: false,
        description: 'Usual price in this market for an amount of 1 in the other; 1 if unknown.',
        resolve: (one) => one.usual_ratio,
      }),
      usualSpread: t.float({
        nullable: false,
        description: 'Factor within which about two thirds of the cards deviate from that ratio.',
        resolve: (one) => one.usual_spread,
      }),
      cards: t.exposeInt('cards', { nullable: false, description: 'Number of cards of the set and finish, or of the game, the ratio is based on.' }),
      expected: t.exposeFloat('expected', { nullable: false, description: 'Expected price: `converted` × `usualRatio`.' }),
      timesOff: t.float({
        nullable: false,
        description: 'Factor between the price and the expected price.',
        resolve: (one) => one.times_off,
      }),
      level: t.exposeString('level', { nullable: false, description: `${oneOf(COMPARISON_LEVELS)}.` }),
    }),
  })
  const finding = builder.objectRef<PriceExplanation['findings'][number]>('PriceFinding').implement({
    description: 'A finding of a rule about a price.',
    fields: (t) => ({
      rule: t.exposeString('rule', { nullable: false, description: `${oneOf(FLAGS)}.` }),
      version: t.exposeInt('version', { nullable: false, description: 'Incremented when the rule changes.' }),
      market: t.exposeString('market', {
        nullable: true,
        description: 'Market of the price it was compared with; null for rules about a single price.',
      }),
      compared: t.exposeFloat('compared', { nullable: true, description: 'What the price was compared with, in its own currency.' }),
      timesOff: t.float({ description: 'Factor between the price and the expected price.', resolve: (one) => one.times_off }),
      counts: t.exposeBoolean('counts', { nullable: false, description: 'Whether it contradicts the price.' }),
    }),
  })
  const thresholds = builder.objectRef<NonNullable<PriceExplanation['thresholds']>>('PriceThresholds').implement({
    description: 'Settings used to compare a price.',
    fields: (t) => ({
      noise: t.exposeFloat('noise', {
        nullable: false,
        description: 'Differences below this amount, in the currency of the price, are ignored as noise.',
      }),
      ownFactor: t.float({ nullable: false, description: 'Setting `PRICE_OWN_FACTOR`.', resolve: (one) => one.own_factor }),
      offerFactor: t.float({ nullable: false, description: 'Setting `PRICE_OFFER_FACTOR`.', resolve: (one) => one.offer_factor }),
      marketFactor: t.float({ nullable: false, description: 'Setting `PRICE_MARKET_FACTOR`.', resolve: (one) => one.market_factor }),
      marketSpreads: t.float({ nullable: false, description: 'Setting `PRICE_MARKET_SPREADS`.', resolve: (one) => one.market_spreads }),
      doubtFactor: t.float({ nullable: false, description: 'Setting `PRICE_DOUBT_FACTOR`.', resolve: (one) => one.doubt_factor }),
      agreeFactor: t.float({ nullable: false, description: 'Setting `PRICE_AGREE_FACTOR`.', resolve: (one) => one.agree_factor }),
      comparableDays: t.float({ nullable: false, description: 'Setting `PRICE_COMPARABLE_DAYS`.', resolve: (one) => one.comparable_days }),
    }),
  })
  const input = builder.objectRef<PriceExplanation['inputs'][number]>('PriceExplanationInput').implement({
    description: 'An input a price was computed from or compared with.',
    fields: (t) => ({
      kind: t.exposeString('kind', { nullable: false, description: `${oneOf(INPUT_KINDS)}.` }),
      market: t.exposeString('market', { nullable: false, description: 'Code of its market.' }),
      amount: t.exposeFloat('amount', { nullable: false, description: 'Amount in `currency`.' }),
      currency: t.exposeString('currency', { nullable: false, description: 'ISO 4217 code.' }),
      at: t.exposeString('at', { nullable: false, description: 'When it was stated or sold, in ISO 8601, UTC.' }),
      importId: t.int({ description: 'Import or price post that set it; null for sales.', resolve: (one) => one.import_id }),
      line: t.exposeInt('line', { nullable: true, description: 'Line number in the file, if known.' }),
      used: t.exposeBoolean('used', { nullable: false, description: 'Whether the price uses this input.' }),
      reason: t.exposeString('reason', { nullable: false, description: `Why: ${oneOf(Object.keys(INPUT_REASONS))}.` }),
      comparison: t.field({
        type: comparison,
        description: 'Comparison with the price, for compared prices of other markets.',
        resolve: (one) => one.comparison,
      }),
    }),
  })
  const rate = builder.objectRef<PriceExplanation['rates'][number]>('UsedRate').implement({
    description: 'An exchange rate used to compare prices of other markets.',
    fields: (t) => ({
      currency: t.exposeString('currency', { nullable: false, description: 'ISO 4217 code.' }),
      rate: t.exposeFloat('rate', { nullable: false, description: 'Turkish lira for one unit.' }),
      day: t.exposeString('day', { nullable: false, description: 'Day of the rate.' }),
    }),
  })
  const medians = builder.objectRef<PriceExplanation['medians']>('PriceMedians').implement({
    description: 'Medians of the prices at this time on each of the last days, including today; null if there was no price.',
    fields: (t) => ({
      days7: t.float({ description: 'Of 7 days.', resolve: (one) => one['7d'] }),
      days30: t.float({ description: 'Of 30 days.', resolve: (one) => one['30d'] }),
      days90: t.float({ description: 'Of 90 days.', resolve: (one) => one['90d'] }),
    }),
  })
  return builder.objectRef<PriceExplanation>('PriceExplanation').implement({
    description: 'Explanation of a price. Inputs of the kinds `statement` and `sale` are enough to recompute it.',
    fields: (t) => ({
      rule: t.field({ type: rule, description: 'Rule that computed the price.', resolve: (one) => one.rule }),
      judgedBy: t.field({
        type: [rule],
        nullable: false,
        description: "Rules that set `state` and `flags`; none for the service's own prices.",
        extensions: cost({ entries: 10 }),
        resolve: (one) => one.judged_by,
      }),
      inputs: t.field({
        type: [input],
        nullable: false,
        description: 'Inputs the price was computed from and compared with.',
        extensions: cost({ entries: 8 }),
        resolve: (one) => one.inputs,
      }),
      findings: t.field({
        type: [finding],
        nullable: false,
        description: 'All findings of the rules about the price, evaluated now.',
        extensions: cost({ entries: 4 }),
        resolve: (one) => one.findings,
      }),
      confirmedByPersonAt: t.string({
        description: 'When a person confirmed the price, which overrides the findings; ISO 8601, UTC.',
        resolve: (one) => one.confirmed_by_person_at,
      }),
      thresholds: t.field({ type: thresholds, description: 'Settings used for the comparison.', resolve: (one) => one.thresholds }),
      rates: t.field({
        type: [rate],
        nullable: false,
        description: 'Exchange rates used to compare prices of other markets.',
        extensions: cost({ entries: 2 }),
        resolve: (one) => one.rates,
      }),
      medians: t.field({ type: medians, nullable: false, description: 'Medians from our history.', resolve: (one) => one.medians }),
      samples: t.exposeInt('samples', { nullable: true, description: "Number of sales or offers behind the feed's figures." }),
    }),
  })
}
