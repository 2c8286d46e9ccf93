// Explains a price with all inputs and rules, so that a client can recompute it from the response alone.
import { sql } from 'kysely'
import { DAY_MS } from '#core/duration.ts'
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { MARKETS, type Market } from '#core/markets.ts'
import { minorToNumber, parseMinor } from '#core/money.ts'
import type { Queryable } from '#db/schema.ts'
import type { PriceRules } from '../evidence/hold.ts'
import { RULE_VERSIONS } from '../evidence/judge.ts'
import type { MarketComparison } from '../evidence/other-markets.ts'
import { factorBetween } from '../evidence/thresholds.ts'
import { CONFIDENCES, FLAGS, flagsOf, STATES } from '../evidence/types.ts'
import { type ExplainedVerdict, PriceJudge } from '../judging/price-judge.ts'
import type { Rates } from '../rates/rates.ts'
import { CurrentPrices } from '../records/current.ts'
import { medianOfDays } from '../records/medians.ts'
import { type Sale, salesOfPrice, servicePrice } from '../writing/service-price.ts'

/** How a price is determined. */
export const PRICE_RULES = {
  /** the amount stated in a feed */
  latest_statement: { name: 'latest_statement', version: 1 },
  /** the median of the last sales of the service's own market */
  median_of_sales: { name: 'median_of_sales', version: 1 },
} as const
type RuleName = keyof typeof PRICE_RULES

export const INPUT_KINDS = ['statement', 'confirmation', 'sale', 'avg_1', 'avg_7', 'avg_30', 'low', 'mid', 'high', 'market'] as const
type InputKind = (typeof INPUT_KINDS)[number]

/** Why an input was used or not, as in the API reference. */
export const INPUT_REASONS = {
  sets_price: 'the price is this amount',
  confirms: 'the source stated the same amount again',
  in_median: 'one of the sales whose median the price is',
  compared: 'the price was compared with it when it was judged',
  not_compared: 'shown for information; lows and highs are not evidence against a price',
  no_rate: 'its currency has no exchange rate',
  other_time: 'the two prices were stated too far apart in time to be compared',
  own_sales: "prices from the service's own sales are not compared with other markets",
  no_price: 'the item has no price to compare it with',
} as const
type InputReason = keyof typeof INPUT_REASONS

const Time = Type.String({ format: 'date-time', description: 'UTC' })

export const COMPARISON_LEVELS = ['agree', 'doubt', 'conflict'] as const

const ComparisonSchema = Type.Object(
  {
    converted: Type.Number({ description: 'The other amount converted to the currency of the price by `rates`' }),
    usual_ratio: Type.Number({ description: 'Usual price in this market for an amount of 1 in the other; 1 if unknown' }),
    usual_spread: Type.Number({ description: 'Factor within which about two thirds of the cards deviate from that ratio' }),
    cards: Type.Integer({ description: 'Number of cards of the set and finish, or of the game, the ratio is based on' }),
    expected: Type.Number({ description: 'Expected price: `converted` × `usual_ratio`' }),
    times_off: Type.Number({ description: 'Factor between the price and the expected price' }),
    level: Type.Enum([...COMPARISON_LEVELS], {
      description:
        "`agree`: less than `noise` or `doubt_factor` apart; `conflict`: at least `market_factor` and `usual_spread` to the power of `market_spreads`; `doubt`: in between; counts only if the feed's own figures point the same way",
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

const ThresholdsSchema = Type.Object(
  {
    noise: Type.Number({ description: 'Differences below this amount, in `currency`, are ignored as noise' }),
    own_factor: Type.Number({ description: 'Setting `PRICE_OWN_FACTOR`' }),
    offer_factor: Type.Number({ description: 'Setting `PRICE_OFFER_FACTOR`' }),
    market_factor: Type.Number({ description: 'Setting `PRICE_MARKET_FACTOR`' }),
    market_spreads: Type.Number({ description: 'Setting `PRICE_MARKET_SPREADS`' }),
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
type ExplainInput = Static<typeof ExplainInputSchema>

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
    samples: orNull(Type.Integer(), { description: "Number of sales or offers behind the feed's figures" }),
    rule: orNull(
      Type.Object(
        {
          name: Type.Enum(Object.keys(PRICE_RULES) as RuleName[], {
            description:
              '`latest_statement`: the amount of the input `statement`; `median_of_sales`: the median of the inputs `sale`; for an even number, the mean of the two middle ones, rounded half up to kuruş',
          }),
          version: Type.Integer({ description: 'Incremented when the rule changes' }),
        },
        { title: 'PriceRule', description: 'A rule that computes or evaluates a price' },
      ),
    ),
    judged_by: Type.Array(Type.Object({ name: Type.Enum([...FLAGS]), version: Type.Integer() }, { title: 'EvidenceRule' }), {
      description: "Rules that set `state` and `flags`; none for the service's own prices, which are always trusted",
    }),
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

/** Identifies a price. */
export interface ExplainedKey {
  itemId: number
  /** position in MARKETS */
  market: number
  labelId: number
  label: string
}

export interface ExplainConditions {
  nowMs: number
  rates: Rates
  currencies: Readonly<Record<Market, string>>
  rules: PriceRules
}

const EVIDENCE_RULES = FLAGS.map((name) => ({ name, version: RULE_VERSIONS[name] }))
const SERVICE = MARKETS.indexOf('service')
const MAX_DAYS = 90
const FIGURES = ['avg_1', 'avg_7', 'avg_30', 'low', 'mid', 'high'] as const
/** Figures that a price is compared with when it is judged. */
const COMPARED = new Set<InputKind>(['avg_1', 'avg_7', 'avg_30', 'mid'])

interface PriceRow {
  item_id: number
  market: number
  label_id: number
  price: string
  updated_at: Date
  confirmed_at: Date | null
  import_id: number
  line: number | null
  state: number
  confidence: number
  flags: number
  avg_1: string | null
  avg_7: string | null
  avg_30: string | null
  low: string | null
  mid: string | null
  high: string | null
  samples: number | null
}

/** Explanations of prices, in the order of the keys. */
export async function explainPrices(on: Queryable, keys: readonly ExplainedKey[], conditions: ExplainConditions): Promise<PriceExplanation[]> {
  if (keys.length === 0) return []
  const { nowMs, rules } = conditions
  const [prices, points, sales, verdicts] = await Promise.all([
    pricesOf(on, keys),
    pointsOf(on, keys, nowMs),
    salesOf(on, keys),
    verdictsOf(on, keys, rules, nowMs),
  ])
  return keys.map((key, n) => {
    const ofKey = prices.get(`${key.itemId} ${key.labelId}`) ?? []
    const past = { points: points.get(n) ?? [], sales: sales.get(`${key.itemId} ${key.labelId}`) ?? [] }
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
    verdict: market === SERVICE ? null : judge.explain(currents, itemId, market, labelId),
    noiseMinor: judge.conditions.noiseMinor[market]!,
  }))
}

interface Past {
  /** oldest first */
  points: readonly { minor: number; atMs: number }[]
  /** sales of the item and label, oldest first */
  sales: readonly RecordedSale[]
}

function explained(
  key: ExplainedKey,
  rows: readonly PriceRow[],
  { points, sales }: Past,
  { verdict, noiseMinor }: Evaluation,
  conditions: ExplainConditions,
): PriceExplanation {
  const { currencies, nowMs, rules } = conditions
  const market = MARKETS[key.market]!
  const currency = currencies[market]
  const own = rows.find((row) => row.market === key.market)
  const compare = comparison(own, verdict, conditions)
  const others = rows.filter((row) => row !== own).sort((a, b) => a.market - b.market)
  const inputs = [
    ...(own ? (key.market === SERVICE ? saleInputs(own, sales, currency) : statementInputs(own, market, currency)) : []),
    ...others.map((row) => compare.input(row)),
  ]
  const medianOf = (days: number) => {
    const minor = medianOfDays(points, nowMs, days)
    return minor === null ? null : minorToNumber(minor)
  }
  return {
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
    rule: own ? PRICE_RULES[key.market === SERVICE ? 'median_of_sales' : 'latest_statement'] : null,
    judged_by: own && key.market !== SERVICE ? EVIDENCE_RULES : [],
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
}

function thresholdsOf(rules: PriceRules, noiseMinor: number): Static<typeof ThresholdsSchema> {
  return {
    noise: noiseMinor / 100,
    own_factor: rules.ownFactor,
    offer_factor: rules.offerFactor,
    market_factor: rules.marketFactor,
    market_spreads: rules.marketSpreads,
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
    expected: expectedA / 100,
    times_off: factorBetween(minor, expectedA),
    level,
  }
}

function statementInputs(own: PriceRow, market: Market, currency: string): ExplainInput[] {
  const confirmed = confirmedAt(own)
  const stated = { market, currency, import_id: own.import_id, line: own.line }
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

function saleInputs(own: PriceRow, sales: readonly RecordedSale[], currency: string): ExplainInput[] {
  return salesBehind(own, sales).map((sale) => ({
    kind: 'sale',
    market: 'service',
    amount: minorToNumber(sale.minor),
    currency,
    at: new Date(sale.soldAtMs).toISOString(),
    import_id: null,
    line: null,
    used: true,
    reason: 'in_median',
    comparison: null,
  }))
}

/**
 * The sales whose median a price is, newest first. The price is computed when a sale is recorded or items are merged, and does not change afterwards,
 * so this searches for the time at which the sales give that price.
 */
function salesBehind(own: PriceRow, sales: readonly RecordedSale[]): readonly Sale[] {
  const minor = parseMinor(own.price)!
  const moments = [Math.max(0, ...sales.map((sale) => sale.recordedMs)), confirmedAt(own).getTime(), own.updated_at.getTime()]
  for (const atMs of moments) {
    const then = sales.filter((sale) => sale.recordedMs <= atMs)
    if (servicePrice(then, atMs) === minor) return salesOfPrice(then, atMs)
  }
  return []
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
    if (own.market === SERVICE || other.market === SERVICE) return 'own_sales'
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
      reason,
      comparison: compared ? comparedTo(compared, parseMinor(own!.price)!) : null,
    }
  }
  return { input, rates: () => [...used.values()] }
}

function confirmedAt({ confirmed_at: confirmed, updated_at: updated }: PriceRow): Date {
  return confirmed && confirmed > updated ? confirmed : updated
}

/** Current prices of all markets by item and label. */
async function pricesOf(on: Queryable, keys: readonly ExplainedKey[]): Promise<Map<string, PriceRow[]>> {
  const { rows } = await sql<PriceRow>`
    select p.item_id, p.market, p.label_id, p.price, p.updated_at, p.confirmed_at, p.import_id, p.line, p.state, p.confidence, p.flags,
      p.avg_1, p.avg_7, p.avg_30, p.low, p.mid, p.high, p.samples
    from prices p join (${keysOf(keys)}) k using (item_id, label_id)`.execute(on)
  return Map.groupBy(rows, (row) => `${row.item_id} ${row.label_id}`)
}

/** Points of the last days by position of the key, with the point before them. */
async function pointsOf(on: Queryable, keys: readonly ExplainedKey[], nowMs: number): Promise<Map<number, { minor: number; atMs: number }[]>> {
  const from = new Date(nowMs - MAX_DAYS * DAY_MS)
  const key = sql`p.item_id = k.item_id and p.market = k.market and p.label_id = k.label_id`
  const { rows } = await sql<{ n: number; price: string; updated_at: Date }>`
    select k.n::int4 as n, s.price, s.updated_at
    from unnest(${keys.map((one) => one.itemId)}::int4[], ${keys.map((one) => one.market)}::int2[], ${keys.map((one) => one.labelId)}::int4[])
      with ordinality as k(item_id, market, label_id, n)
    cross join lateral (
      (select price, updated_at from price_points p where ${key} and updated_at <= ${from} order by updated_at desc limit 1)
      union all
      select price, updated_at from price_points p where ${key} and updated_at > ${from} and updated_at <= ${new Date(nowMs)}
    ) s order by s.updated_at`.execute(on)
  const points = new Map<number, { minor: number; atMs: number }[]>()
  for (const { n, price, updated_at: at } of rows) {
    const ofKey = points.get(n - 1) ?? []
    ofKey.push({ minor: parseMinor(price)!, atMs: at.getTime() })
    points.set(n - 1, ofKey)
  }
  return points
}

interface RecordedSale extends Sale {
  recordedMs: number
}

/** The latest sales for the service's own prices, by item and label, oldest first. */
async function salesOf(on: Queryable, keys: readonly ExplainedKey[]): Promise<Map<string, RecordedSale[]>> {
  const own = keys.filter(({ market }) => market === SERVICE)
  if (own.length === 0) return new Map()
  const { rows } = await sql<{ item_id: number; label_id: number; unit_price: string; sold_at: Date; created_at: Date }>`
    select k.item_id, k.label_id, s.unit_price, s.sold_at, s.created_at
    from (${keysOf(own)}) k cross join lateral (
      select s.id, s.unit_price, s.sold_at, o.created_at from uncancelled_sales s join orders o using (order_id)
      where s.item_id = k.item_id and s.label_id = k.label_id
      order by s.sold_at desc, s.id desc limit ${sql.lit(LATEST_SALES)}
    ) s order by s.sold_at, s.id`.execute(on)
  return Map.groupBy(
    rows.map((row) => ({
      key: `${row.item_id} ${row.label_id}`,
      minor: parseMinor(row.unit_price)!,
      soldAtMs: row.sold_at.getTime(),
      recordedMs: row.created_at.getTime(),
    })),
    ({ key }) => key,
  )
}

/** More than a median uses, because later ones may have been recorded since it was computed. */
const LATEST_SALES = 50

function keysOf(keys: readonly ExplainedKey[]) {
  return sql`select distinct item_id, label_id
    from unnest(${keys.map((key) => key.itemId)}::int4[], ${keys.map((key) => key.labelId)}::int4[]) as k(item_id, label_id)`
}
