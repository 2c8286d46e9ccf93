// Explains a price with all inputs and rules, so that a client can recompute it from the response alone.
import { DAY_MS } from '#core/duration.ts'
import type { Static } from '#core/input.ts'
import { MARKETS, type Market, type MarketNames } from '#core/markets.ts'
import { minorToNumber, parseMinor } from '#core/money.ts'
import type { Queryable } from '#db/schema.ts'
import type { PriceRules } from '../evidence/hold.ts'
import { RULE_VERSIONS } from '../evidence/judge.ts'
import type { MarketComparison } from '../evidence/other-markets.ts'
import { factorBetween } from '../evidence/thresholds.ts'
import { summaryInEnglish } from './summary.ts'
import { CONFIDENCES, FLAGS, flagsOf, STATES } from '../evidence/evidence-types.ts'
import { type ExplainedVerdict, PriceJudge } from '../judging/price-judge.ts'
import type { Rates } from '../rates/rates.ts'
import { CurrentPrices } from '../records/current.ts'
import { medianOfDays } from '../records/medians.ts'
import { costToMoveResponse } from '../own/cost-to-move-schema.ts'
import { type ExplainedOwnPrice, explainedOwnPrices } from '../own/explained-own-prices.ts'
import {
  type ComparisonSchema,
  type ExplainInput,
  type InputKind,
  type InputReason,
  PRICE_RULES,
  type PriceExplanation,
  type ThresholdsSchema,
} from './explanation.ts'
import { type ExplainedKey, MAX_DAYS, pointsOf, type PriceRow, pricesOf } from './explained-prices.ts'

export interface ExplainConditions {
  nowMs: number
  rates: Rates
  currencies: Readonly<Record<Market, string>>
  /** the setting MARKET_NAMES */
  marketNames: MarketNames
  rules: PriceRules
}

const EVIDENCE_RULES = FLAGS.map((name) => ({ name, version: RULE_VERSIONS[name] }))

const SERVICE = MARKETS.indexOf('service')

const FIGURES = ['avg_1', 'avg_7', 'avg_30', 'low', 'mid', 'high'] as const

/** Figures that a price is compared with when it is judged. */
const COMPARED = new Set<InputKind>(['avg_1', 'avg_7', 'avg_30', 'mid'])

/** Explanations of prices, in the order of the keys. */
export async function explainPrices(on: Queryable, keys: readonly ExplainedKey[], conditions: ExplainConditions): Promise<PriceExplanation[]> {
  if (keys.length === 0) return []
  const { nowMs, rules } = conditions
  const [prices, points, sales, verdicts] = await Promise.all([
    pricesOf(on, keys),
    pointsOf(on, keys, nowMs),
    explainedOwnPrices(
      on,
      keys.filter(({ market }) => market === SERVICE),
      nowMs,
    ),
    verdictsOf(on, keys, rules, nowMs),
  ])
  return keys.map((key, n) => {
    const ofKey = prices.get(`${key.itemId} ${key.labelId}`) ?? []
    const past = { points: points.get(n) ?? [], own: sales.get(`${key.itemId} ${key.labelId}`) ?? null }
    return explained(key, ofKey, past, verdicts[n]!, conditions)
  })
}

/** The evaluation of a price, and the noise amounts in its market. */
interface Evaluation {
  verdict: ExplainedVerdict | null
  noiseMinor: number
}

/** By position of the key. */
async function verdictsOf(on: Queryable, keys: readonly ExplainedKey[], rules: PriceRules, nowMs: number): Promise<Evaluation[]> {
  const judge = await PriceJudge.load(on, rules, nowMs)
  const currents = await CurrentPrices.read(
    on,
    keys.map(({ itemId }) => itemId),
  )
  await judge.prepare(on, currents)
  return keys.map(({ itemId, market, labelId }) => ({
    verdict: judge.explain(currents, itemId, market, labelId),
    noiseMinor: judge.conditions.noiseMinor[market]!,
  }))
}

interface Past {
  /** oldest first */
  points: readonly { minor: number; atMs: number }[]
  /** for the service's own market */
  own: ExplainedOwnPrice | null
}

function explained(
  key: ExplainedKey,
  rows: readonly PriceRow[],
  { points, own: ownPrice }: Past,
  { verdict, noiseMinor }: Evaluation,
  conditions: ExplainConditions,
): PriceExplanation {
  const { currencies, marketNames, nowMs, rules } = conditions
  const market = MARKETS[key.market]!
  const currency = currencies[market]
  const own = rows.find((row) => row.market === key.market)
  const compare = comparison(own, verdict, conditions)
  const others = rows.filter((row) => row !== own).sort((a, b) => a.market - b.market)
  const inputs = [
    ...(own ? (key.market === SERVICE ? saleInputs(ownPrice, currency) : statementInputs(own, market, currency)) : []),
    ...others.map((row) => compare.input(row)),
  ]
  // A price with too few people behind it counts in no median.
  const isProven = !own || STATES[own.state] !== 'unproven'
  const medianOf = (days: number) => {
    if (!isProven) return null
    const minor = medianOfDays(points, nowMs, days)
    return minor === null ? null : minorToNumber(minor)
  }
  const explanation: Omit<PriceExplanation, 'summary'> = {
    item_id: key.itemId,
    market,
    label: key.label,
    price: own ? Number(own.price) : null,
    currency,
    updated_at: own ? own.updated_at.toISOString() : null,
    confirmed_at: own ? confirmedAt(own).toISOString() : null,
    state: own ? STATES[own.state]! : null,
    confidence: own ? CONFIDENCES[own.confidence]! : null,
    flags: own ? flagsOf(own.flags) : [],
    samples: own?.samples ?? null,
    condition_known: own?.condition_known ?? null,
    rule: own ? PRICE_RULES[key.market === SERVICE ? 'median_of_pairs' : 'latest_statement'] : null,
    ...(own && ownPrice && { cost_to_move_10pct: ownPrice.cost && costToMoveResponse(ownPrice.cost, currency) }),
    judged_by: own ? EVIDENCE_RULES : [],
    findings: (verdict?.findings ?? []).map(({ flag, otherMarket, compared, timesOff, counts }) => ({
      rule: flag,
      version: RULE_VERSIONS[flag],
      market: otherMarket === null ? null : MARKETS[otherMarket]!,
      compared: compared === null ? null : minorToNumber(compared),
      times_off: timesOff,
      counts,
    })),
    confirmed_by_person_at: verdict?.confirmedByPersonMs == null ? null : new Date(verdict.confirmedByPersonMs).toISOString(),
    thresholds: verdict ? thresholdsOf(rules, noiseMinor) : null,
    inputs,
    rates: compare.rates(),
    medians: { '7d': medianOf(7), '30d': medianOf(30), '90d': medianOf(MAX_DAYS) },
  }
  return { ...explanation, summary: summaryInEnglish(explanation, marketNames) }
}

function thresholdsOf(rules: PriceRules, noiseMinor: number): Static<typeof ThresholdsSchema> {
  return {
    noise: noiseMinor / 100,
    own_factor: rules.ownFactor,
    offer_factor: rules.offerFactor,
    market_factor: rules.marketFactor,
    market_spreads: rules.marketSpreads,
    condition_factor: rules.conditionFactor,
    doubt_factor: rules.doubtFactor,
    agree_factor: rules.agreeFactor,
    comparable_days: rules.comparableDays,
  }
}

function comparedTo({ converted, usual, expectedA, level }: MarketComparison, minor: number): Static<typeof ComparisonSchema> {
  return {
    converted: minorToNumber(converted),
    usual_ratio: usual.ratio,
    usual_spread: usual.spread,
    cards: usual.cards,
    learned_ratio: usual.learned,
    expected: expectedA / 100,
    times_off: factorBetween(minor, expectedA),
    level,
  }
}

function statementInputs(own: PriceRow, market: Market, currency: string): ExplainInput[] {
  const confirmed = confirmedAt(own)
  const stated = { market, currency, import_id: own.import_id, line: own.line, condition_known: own.condition_known }
  const statement: ExplainInput = {
    ...stated,
    kind: 'statement',
    amount: Number(own.price),
    at: own.updated_at.toISOString(),
    used: true,
    reason: 'sets_price',
    comparison: null,
  }
  // Without import and line: confirmations are not recorded individually.
  const confirmation: ExplainInput = {
    ...statement,
    kind: 'confirmation',
    at: confirmed.toISOString(),
    import_id: null,
    line: null,
    reason: 'confirms',
  }
  const figures = FIGURES.flatMap((kind): ExplainInput[] => {
    const amount = own[kind]
    if (amount === null) return []
    const used = COMPARED.has(kind)
    return [
      { ...stated, kind, amount: Number(amount), at: confirmed.toISOString(), used, reason: used ? 'compared' : 'not_compared', comparison: null },
    ]
  })
  return [statement, ...(confirmed > own.updated_at ? [confirmation] : []), ...figures]
}

function saleInputs(own: ExplainedOwnPrice | null, currency: string): ExplainInput[] {
  return (own?.sales ?? []).map(({ minor, soldAtMs, excluded, pair, weight }) => ({
    kind: 'sale',
    market: 'service',
    amount: minorToNumber(minor),
    currency,
    at: new Date(soldAtMs).toISOString(),
    import_id: null,
    line: null,
    used: excluded === null,
    condition_known: true,
    reason: excluded ?? 'in_median',
    pair,
    ...(weight !== null && { weight }),
    comparison: null,
  }))
}

/** Compares the price of a key with those of other markets, with the exchange rates used. */
function comparison(own: PriceRow | undefined, verdict: ExplainedVerdict | null, { rates, currencies, rules }: ExplainConditions) {
  const used = new Map<string, { currency: string; rate: number; day: string }>()
  const rateOf = (currency: string, atMs: number): boolean => {
    if (currency === 'TRY') return true
    const found = rates.on(currency, atMs)
    if (found) used.set(`${currency} ${found.day}`, { currency, rate: found.lira, day: found.day })
    return found !== null
  }
  const reasonOf = (other: PriceRow): InputReason => {
    if (!own) return 'no_price'
    if (other.market === SERVICE) return 'own_sales'
    if (own.market === SERVICE && STATES[other.state] !== 'trusted') return 'not_trusted'
    const [ownMs, otherMs] = [confirmedAt(own).getTime(), confirmedAt(other).getTime()]
    if (Math.abs(ownMs - otherMs) > rules.comparableDays * DAY_MS) return 'other_time'
    const [from, to] = [currencies[MARKETS[other.market]!], currencies[MARKETS[own.market]!]]
    // Uses the rates of the later day, as judging does.
    const atMs = Math.max(ownMs, otherMs)
    return from === to || [rateOf(from, atMs), rateOf(to, atMs)].every(Boolean) ? 'compared' : 'no_rate'
  }
  const input = (other: PriceRow): ExplainInput => {
    const market = MARKETS[other.market]!
    const reason = reasonOf(other)
    const compared = reason === 'compared' ? verdict?.comparisons.get(other.market) : undefined
    return {
      kind: 'market',
      market,
      amount: Number(other.price),
      currency: currencies[market],
      at: confirmedAt(other).toISOString(),
      import_id: other.import_id,
      line: other.line,
      used: reason === 'compared',
      condition_known: other.condition_known,
      state: STATES[other.state]!,
      flags: flagsOf(other.flags),
      reason,
      comparison: compared ? comparedTo(compared, parseMinor(own!.price)!) : null,
    }
  }
  return { input, rates: () => [...used.values()] }
}

function confirmedAt({ confirmed_at: confirmed, updated_at: updated }: PriceRow): Date {
  return confirmed && confirmed > updated ? confirmed : updated
}
