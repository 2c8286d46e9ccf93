// Prices of an item and label by source and day, with its sales, converted to one currency: the data of a price chart.
import { DAY_MS } from '#core/duration.ts'
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { labelOrder } from '#core/labels.ts'
import { MARKETS, type Market } from '#core/markets.ts'
import { minorToNumber, parseMinor } from '#core/money.ts'
import { namedValues } from '#core/named-values.ts'
import { reason } from '#core/problems.ts'
import type { Queryable } from '#db/schema.ts'
import { STATES } from '../evidence/evidence-types.ts'
import type { Rates } from '../rates/rates.ts'
import { pageOfHeld } from '../writing/held.ts'
import { type HistoryCtx, periodsOf } from './history.ts'

export const CHART_RANGES = namedValues('PriceChartRange', ['1m', '3m', '1y', 'all'])
type ChartRange = (typeof CHART_RANGES)[number]

const RANGE_DAYS: Record<Exclude<ChartRange, 'all'>, number> = { '1m': 30, '3m': 91, '1y': 365 }

export const POINT_STATES = [...STATES, 'held'] as const

const Converted = orNull(Type.Number(), {
  description: '`amount` in the currency of the chart, by the last exchange rates known on that day; null if there are none',
})

const PointSchema = Type.Object(
  {
    day: Type.String({ format: 'date', description: 'Day of the price, UTC', examples: ['2026-11-16'] }),
    amount: Type.Number({ description: 'Last price of the day, in the currency of the source; it applies until the next point' }),
    converted: Converted,
    state: orNull(Type.Enum([...POINT_STATES]), {
      description:
        'State of the current price; null for earlier prices. `held`: a price in the range that is not published and not part of the line, for operators only',
    }),
  },
  { title: 'PriceChartPoint', description: 'A price that applies until the next point' },
)

const SeriesSchema = Type.Object(
  {
    market: Type.Enum([...MARKETS]),
    currency: Type.String({ description: 'Currency of `amount`, an ISO 4217 code', examples: ['USD'] }),
    points: Type.Array(PointSchema, { description: 'The first day of the range, and each day on which the price changed; oldest first' }),
  },
  { title: 'PriceChartSeries', description: 'Prices of one source' },
)

const SaleSchema = Type.Object(
  {
    at: Type.String({ format: 'date-time', description: 'Time of the sale, UTC' }),
    amount: Type.Number({ description: 'Price of one unit' }),
    currency: Type.String({ description: 'Currency of `amount`', examples: ['TRY'] }),
    converted: Converted,
  },
  { title: 'PriceChartSale', description: 'A sale of one unit, without its seller' },
)

export const PriceChartSchema = Type.Object(
  {
    item_id: Type.Integer(),
    label: Type.String({ description: 'Condition or grade', examples: ['Near Mint'] }),
    labels: Type.Array(Type.String(), { description: 'Labels for which the item has prices' }),
    currency: Type.String({ description: 'Currency of `converted`', examples: ['USD'] }),
    currencies: Type.Array(Type.String(), { description: 'Currencies of the sources that have exchange rates or prices here, and TRY' }),
    range: Type.Enum([...CHART_RANGES]),
    from: Type.String({ format: 'date', description: 'First day of the range; with `all`, that of the first point' }),
    to: Type.String({ format: 'date-time', description: 'End of the range: the time of the request' }),
    series: Type.Array(SeriesSchema, { description: 'Sources with prices for this label' }),
    sales: orNull(Type.Array(SaleSchema), {
      description: 'Sales of the marketplace in the range without their sellers, oldest first, at most the latest 1,000; null below the Plus plan',
    }),
    sales_total: orNull(Type.Integer(), { description: 'Number of sales in the range; null below the Plus plan' }),
  },
  { title: 'PriceChart', description: 'Prices of an item and label by source and day, with its sales, converted to one currency' },
)
export type PriceChart = Static<typeof PriceChartSchema>
export type PriceChartSeries = PriceChart['series'][number]
export type PriceChartPoint = PriceChartSeries['points'][number]
export type PriceChartSale = NonNullable<PriceChart['sales']>[number]

export const ChartParams = {
  label: Type.Optional(
    Type.String({ maxLength: 40, description: 'Condition or grade; default: Near Mint, or the first one with prices', examples: ['PSA 10'] }),
  ),
  currency: Type.Optional(
    Type.String({
      pattern: '^[A-Z]{3}$',
      allowed: reason('currency'),
      description: 'ISO 4217 code; default: that of the market whose prices the item shows',
      examples: ['TRY'],
    }),
  ),
  range: Type.Optional(Type.Enum([...CHART_RANGES], { default: '1y', description: 'The last 30, 91 or 365 days, or all' })),
}

export interface ChartQuery {
  itemId: number
  /** canonical; default: the first label with prices */
  label: string | undefined
  currency: string
  range: ChartRange
  /** the markets whose lines it has */
  markets: readonly Market[]
  withSales: boolean
  withHeld: boolean
}

export interface ChartConditions {
  now: Date
  rates: Rates
  currencies: Readonly<Record<Market, string>>
}

/** Maximum number of sales of a response. */
const MAX_SALES = 1_000
/** Maximum number of held prices of an item. */
const MAX_HELD = 100
const NEAR_MINT = 'Near Mint'

/** The chart of an item: lines of all markets, held prices and sales, converted by the rates of their days. */
export async function priceChartOf(ctx: HistoryCtx, query: ChartQuery, { now, rates, currencies }: ChartConditions): Promise<PriceChart> {
  const { itemId, currency, range, markets } = query
  const on = ctx.db.kysely
  const [current, held] = await Promise.all([currentPrices(on, itemId, markets), query.withHeld ? heldPrices(on, itemId) : []])
  const labels = [...new Set([...current, ...held].map((price) => price.label))].sort((a, b) => (labelOrder(a) < labelOrder(b) ? -1 : 1))
  const label = query.label ?? (labels.includes(NEAR_MINT) ? NEAR_MINT : (labels[0] ?? NEAR_MINT))
  const from = range === 'all' ? new Date(0) : startOfDay(now.getTime() - RANGE_DAYS[range] * DAY_MS)
  // Prices and sales of this moment count.
  const to = new Date(now.getTime() + 1)
  const [lines, sold] = await Promise.all([
    Promise.all(markets.map((market) => periodsOf(ctx, itemId, { market, label, from, to, interval: 'day' }))),
    query.withSales ? salesOf(on, { itemId, label, from, to }) : null,
  ])
  const convert = (amount: number, of: string, atMs: number) => convertedBy(rates, amount, of, currency, atMs)
  const series = markets.flatMap((market, n): PriceChartSeries[] => {
    const state = current.find((price) => price.market === MARKETS.indexOf(market) && price.label === label)?.state
    const line = lines[n]!.map(({ date, close }): Point => ({ day: date, amount: close, state: null }))
    if (state !== undefined && line.length > 0) line.at(-1)!.state = STATES[state]!
    // A price held for its date in the future would stretch the chart to that date.
    const isShown = (price: HeldPoint) => price.market === market && price.label === label && price.day >= dayOf(from) && price.day <= dayOf(now)
    const points = [...line, ...held.filter(isShown)]
      .sort((a, b) => Date.parse(a.day) - Date.parse(b.day))
      .map(({ day, amount, state }) => ({ day, amount, converted: convert(amount, currencies[market], Date.parse(day)), state }))
    return points.length === 0 ? [] : [{ market, currency: currencies[market], points }]
  })
  const sales = sold?.sales.map(({ at, amount }): PriceChartSale => {
    return { at: at.toISOString(), amount, currency: currencies.service, converted: convert(amount, currencies.service, at.getTime()) }
  })
  const isUsable = (code: string) => code === 'TRY' || rates.on(code, now.getTime()) !== null || series.some((one) => one.currency === code)
  const days = [dayOf(now), ...series.map(({ points }) => points[0]!.day), ...(sales ?? []).map(({ at }) => at.slice(0, 10))]
  return {
    item_id: itemId,
    label,
    labels,
    currency,
    currencies: [...new Set([...MARKETS.map((market) => currencies[market]), 'TRY'])].filter(isUsable),
    range,
    from: range === 'all' ? days.reduce((a, b) => (a < b ? a : b)) : dayOf(from),
    to: now.toISOString(),
    series,
    sales: sales ?? null,
    sales_total: sold?.total ?? null,
  }
}

type Point = Pick<PriceChartPoint, 'day' | 'amount' | 'state'>

function convertedBy(rates: Rates, amount: number, from: string, to: string, atMs: number): number | null {
  const minor = rates.convert(Math.round(amount * 100), from, to, atMs)
  return minor === null ? null : minorToNumber(minor)
}

function currentPrices(on: Queryable, itemId: number, markets: readonly Market[]): Promise<{ market: number; label: string; state: number }[]> {
  const prices = on.selectFrom('prices as p').innerJoin('groups as g', 'g.id', 'p.label_id')
  const positions = markets.map((market) => MARKETS.indexOf(market))
  return prices.select(['p.market', 'g.name as label', 'p.state']).where('p.item_id', '=', itemId).where('p.market', 'in', positions).execute()
}

interface HeldPoint extends Point {
  market: Market
  label: string
}

async function heldPrices(on: Queryable, itemId: number): Promise<HeldPoint[]> {
  const { rows } = await pageOfHeld(on, { item_id: itemId }, { limit: MAX_HELD, offset: 0 })
  return rows.map(({ market, label, price: amount, updated_at: at }) => ({ market, label, amount, day: at.slice(0, 10), state: 'held' }))
}

interface SaleFilter {
  itemId: number
  label: string
  from: Date
  to: Date
}

/** Sales, oldest first, and their number; beyond the maximum only the latest ones. */
async function salesOf(on: Queryable, { itemId, label, from, to }: SaleFilter): Promise<{ sales: { at: Date; amount: number }[]; total: number }> {
  const matching = on
    .selectFrom('uncancelled_sales as s')
    .innerJoin('groups as g', 'g.id', 's.label_id')
    .where('s.item_id', '=', itemId)
    .where('g.name', '=', label)
    .where('s.sold_at', '>=', from)
    .where('s.sold_at', '<', to)
  const [rows, { total }] = await Promise.all([
    matching.select(['s.unit_price', 's.sold_at']).orderBy('s.sold_at', 'desc').orderBy('s.id', 'desc').limit(MAX_SALES).execute(),
    matching.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ])
  return { sales: rows.reverse().map((row) => ({ at: row.sold_at, amount: minorToNumber(parseMinor(row.unit_price)!) })), total }
}

function startOfDay(ms: number): Date {
  return new Date(Math.floor(ms / DAY_MS) * DAY_MS)
}

function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10)
}
