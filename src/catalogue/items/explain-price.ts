// Explains a current price of an item, for Professional and above; operators also see its held prices.
import { itemNotFound } from '#core/errors.ts'
import { id } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { type Market, type MarketNames, MARKETS } from '#core/markets.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/changes/change.ts'
import type { Queryable } from '#db/schema.ts'
import type { PriceRules } from '#prices/evidence/hold.ts'
import { type ExplainConditions, explainPrices } from '#prices/reviews/explain.ts'
import type { ExplainedKey } from '#prices/reviews/explained-prices.ts'
import { type PriceExplanation, PriceExplanationSchema } from '#prices/reviews/explanation.ts'
import { summaryInEnglish } from '#prices/reviews/summary.ts'
import { HeldPriceSchema, pageOfHeld } from '#prices/writing/held.ts'
import { labelIds } from '#prices/records/labels.ts'
import { Rates } from '#prices/rates/rates.ts'
import type { CatalogueNode, MarketUse } from '../context.ts'
import { IdParam, labelParam } from '../params.ts'
import { fetchPricedItem, type StoredItemCtx } from './stored-items.ts'

const NEAR_MINT = 'Near Mint'
/** Maximum number of held prices for one item, market and label. */
const MAX_HELD_PRICES = 100

const PriceKey = {
  market: Type.Optional(Type.Enum([...MARKETS], { description: 'Default: the market whose prices the item shows' })),
  label: Type.Optional(Type.String({ maxLength: 40, default: NEAR_MINT, description: 'Condition or grade', examples: ['Near Mint', 'PSA 10'] })),
}

interface PriceKey {
  market?: Market
  label?: string
}

interface Judging {
  now: () => Date
  currencies: Readonly<Record<Market, string>>
  rules: PriceRules
}

export interface ExplainCtx extends CatalogueNode, MarketUse, ReadCtx, Judging {}

/** The inputs of an explanation besides the prices. */
export function explainConditions({ now, currencies, rules }: Judging, rates: Rates, marketNames: MarketNames): ExplainConditions {
  return { nowMs: now().getTime(), rates, currencies, marketNames, rules }
}

export const explainPrice = verb(
  {
    name: 'explainPrice',
    needs: OPERATION_PLAN.explainPrice,
    input: Type.Object({ id: IdParam, ...PriceKey }),
  },
  async (ctx: ExplainCtx, { id, ...priceKey }): Promise<PriceExplanation> => {
    const { items, rates, marketNames } = ctx.catalogue
    const row = items.rowOf(id)
    if (row < 0) throw itemNotFound(id)
    const conditions = explainConditions(ctx, rates, marketNames)
    const explanation = await explainOne(ctx.db.kysely, items.id[row]!, priceKey, MARKETS[items.shown[row]!]!, conditions)
    return withMarkets(explanation, marketNames, ctx.mayUse)
  },
)

export const StoredPriceExplanationSchema = Type.Object(
  { ...PriceExplanationSchema.properties, held: Type.Array(HeldPriceSchema, { description: 'Held prices of the item' }) },
  { title: 'StoredPriceExplanation' },
)
export type StoredPriceExplanation = Static<typeof StoredPriceExplanationSchema>

export interface StoredExplainCtx extends StoredItemCtx, Judging {
  marketNames: MarketNames
}

export const explainStoredPrice = verb(
  { name: 'explainStoredPrice', needs: 'operator', input: Type.Object({ id: id('item'), ...PriceKey }) },
  async (ctx: StoredExplainCtx, { id, ...priceKey }): Promise<StoredPriceExplanation> => {
    const on = ctx.db.kysely
    const [item, rates] = await Promise.all([fetchPricedItem(ctx, id), Rates.load(on)])
    const explanation = await explainOne(on, item.id, priceKey, item.shown_market, explainConditions(ctx, rates, ctx.marketNames))
    const { rows } = await pageOfHeld(on, { item_id: item.id, market: explanation.market }, { limit: MAX_HELD_PRICES, offset: 0 })
    const held = rows.filter(({ label }) => label === explanation.label)
    return { ...explanation, summary: summaryInEnglish({ ...explanation, held }, ctx.marketNames), held }
  },
)

/** The explanation as a reader gets it who may see only some markets, by their positions in MARKETS. @param names of markets, for the summary */
export function withMarkets(explanation: PriceExplanation, names: MarketNames, maySee: (market: number) => boolean): PriceExplanation {
  const isSeen = (market: Market | null | undefined) => market === null || market === undefined || maySee(MARKETS.indexOf(market))
  const inputs = explanation.inputs.filter(({ market }) => isSeen(market))
  const findings = explanation.findings.filter(({ market }) => isSeen(market))
  const isHidden = !isSeen(explanation.market)
  if (!isHidden && inputs.length === explanation.inputs.length && findings.length === explanation.findings.length) return explanation
  const seen = { ...explanation, ...(isHidden ? NO_PRICE : { inputs, findings }) }
  return { ...seen, summary: summaryInEnglish(seen, names) }
}

/** The explanation of a price that does not exist, or that the reader may not see. */
const NO_PRICE = {
  price: null,
  updated_at: null,
  confirmed_at: null,
  state: null,
  confidence: null,
  flags: [],
  samples: null,
  condition_known: null,
  rule: null,
  judged_by: [],
  findings: [],
  confirmed_by_person_at: null,
  inputs: [],
  medians: { '7d': null, '30d': null, '90d': null },
} satisfies Partial<PriceExplanation>

async function explainOne(
  on: Queryable,
  itemId: number,
  { market, label = NEAR_MINT }: PriceKey,
  shown: Market,
  conditions: ExplainConditions,
): Promise<PriceExplanation> {
  const canonical = labelParam(label)
  // No price has ever had this grade, so id 0 matches no row.
  const labelId = (await labelIds(on)).get(canonical) ?? 0
  const key: ExplainedKey = { itemId, market: MARKETS.indexOf(market ?? shown), labelId, label: canonical }
  const [explanation] = await explainPrices(on, [key], conditions)
  return explanation!
}
