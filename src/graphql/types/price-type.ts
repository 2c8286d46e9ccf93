// The type Price with its evidence and explanation (interface.md, "Item (GraphQL)").
import { explainConditions, withMarkets } from '#catalogue/items/explain-price.ts'
import { FLAGS_DESCRIPTION } from '#catalogue/item-schemas.ts'
import { evidenceOf, type ItemPrice, utcTime } from '#catalogue/snapshot/item-json.ts'
import { DAY_MS } from '#core/duration.ts'
import type { Static } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import { minorToNumber } from '#core/money.ts'
import { CONFIDENCES, FLAGS, STATES } from '#prices/evidence/evidence-types.ts'
import { CostToMoveSchema, costToMoveResponse } from '#prices/own/cost-to-move-schema.ts'
import { pricesAgo } from '#prices/history/prices-ago.ts'
import { explainPrices } from '#prices/reviews/explain.ts'
import { PriceExplanationSchema } from '#prices/reviews/explanation.ts'
import { type Builder, cost, fromDatabase } from '../building/builder.ts'
import { objectFrom } from '../building/from-schema.ts'
import { batched } from '../execution/batched.ts'
import type { GraphqlCtx } from '../execution/context.ts'

const SERVICE = MARKETS.indexOf('service')
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

const explanationOf = batched(async (ctx: GraphqlCtx, prices: ItemPrice[]) => {
  const { catalogue, db } = ctx
  const keys = prices.map(({ row, market, labelId, label }) => ({ itemId: catalogue.items.id[row]!, market, labelId, label }))
  const explanations = await explainPrices(db.kysely, keys, explainConditions(ctx, catalogue.rates, catalogue.marketNames))
  return explanations.map((explanation) => withMarkets(explanation, catalogue.marketNames, ctx.mayUse))
})

const oneOf = (values: readonly string[]) => values.map((value) => `\`${value}\``).join(', ')
const amountOrNull = (minor: number | null) => (minor === null ? null : minorToNumber(minor))

export function addPriceType(builder: Builder) {
  const costType = objectFrom(builder, CostToMoveSchema)
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
          description: `${FLAGS_DESCRIPTION}: any of ${oneOf(FLAGS)}.`,
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
        costToMove10pct: t.field({
          type: costType,
          description: "What it would cost to move a price of the service's own market by 10 %; null for other markets.",
          resolve: ({ row, labelId, market }, _args, { catalogue, currencies }) => {
            const cost = market === SERVICE ? catalogue.costToMove(catalogue.items.id[row]!, labelId) : null
            return cost && costToMoveResponse(cost, currencies.service)
          },
        }),
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
  const { inputs, medians, rule } = PriceExplanationSchema.properties
  const ruleType = objectFrom(builder, rule.anyOf[0])
  objectFrom(builder, inputs.items, { types: { import_id: 'Int' } })
  const days = builder.objectRef<Static<typeof medians>>('PriceMedians').implement({
    description: 'Medians of the prices at this time on each of the last days, including today; null if there was no price.',
    fields: (t) => ({
      days7: t.float({ description: 'Of 7 days.', resolve: (one) => one['7d'] }),
      days30: t.float({ description: 'Of 30 days.', resolve: (one) => one['30d'] }),
      days90: t.float({ description: 'Of 90 days.', resolve: (one) => one['90d'] }),
    }),
  })
  return objectFrom(builder, PriceExplanationSchema, {
    description: 'Explanation of a price. Inputs of the kinds `statement` and `sale` are enough to recompute it.',
    omit: ['item_id', 'market', 'label', 'price', 'currency', 'updated_at', 'confirmed_at', 'state', 'confidence', 'flags'],
    types: { judged_by: ruleType, medians: days },
    entries: { judged_by: 10, inputs: 8, findings: 4, rates: 2 },
  })
}
