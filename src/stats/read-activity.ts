// Activity in a period by day, compared with the previous period: sales, approvals, API use, deliveries, and the top lists.
import { invalid } from '#core/errors.ts'
import { boundedId, day, orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { type Market, MARKETS } from '#core/markets.ts'
import { minorToNumber } from '#core/money.ts'
import { localDay } from '#core/time.ts'
import { verb } from '#core/verb.ts'
import { inTransaction } from '#db/connection/transaction.ts'
import { fetchAccount } from '#accounts/account-store.ts'
import type { MarketWriteCtx } from '#market/marketplace-types.ts'
import {
  type DecidedRow,
  decisionsByDay,
  deliveriesByDay,
  refundsByDay,
  requestsByDay,
  salesByDay,
  type Span,
  topCallers,
  topItems,
  topSellers,
} from './activity-store.ts'
import { activeListings } from './active-listings.ts'
import { recordedDays } from './day-counts.ts'

const USUAL_DAYS = 30
/** A leap year; use external reports for longer periods. */
const MAX_DAYS = 366
const TOP = 10

const Lira = (description: string) => Type.Number({ description: `${description}, in TL` })
const Hours = (description: string) => orNull(Type.Number(), { description })

const Figures = {
  orders: Type.Integer({ description: 'Orders with at least one line that was not cancelled' }),
  units: Type.Integer({ description: 'Units sold, excluding cancelled lines' }),
  turnover: Lira('Unit price × quantity of the lines sold, excluding cancelled ones'),
  commission: Lira('Turnover minus payouts'),
  payouts: Lira('Payouts to sellers'),
  refunds: Lira('Refunds of lines cancelled in the period, whenever they were sold'),
  decided: Type.Integer({ description: 'Decisions about pending listings, including those of approval rules, excluding undone ones' }),
  wait_p50_hours: Hours('Median wait of the listings that people decided about, in hours; null if there are none'),
  wait_p90_hours: Hours('90th percentile of the wait of the listings that people decided about, in hours; null if there are none'),
  requests: orNull(Type.Integer(), { description: 'Requests with API keys, by UTC day; null if they are no longer stored, or not yet' }),
  webhook_attempts: orNull(Type.Integer(), {
    description: 'Delivery attempts, excluding replays and checks; null if they are no longer stored, or not yet',
  }),
  webhook_failures: orNull(Type.Integer(), { description: 'Failed attempts' }),
}
const FiguresSchema = Type.Object(Figures, { title: 'ActivityFigures' })
type Figure = Static<typeof FiguresSchema>

const CoverageSchema = Type.Object(
  {
    market: Type.Enum([...MARKETS]),
    group: Type.String({ description: 'Group of labels', examples: ['Graded'] }),
    coverage: Type.Number({ description: 'Share of the catalogue with a price, 0 to 1' }),
  },
  { title: 'DayCoverage' },
)

const DaySchema = Type.Object(
  {
    day: Type.String({ format: 'date' }),
    ...Figures,
    active_listings: orNull(Type.Integer(), {
      description: 'Last value recorded on that day, for today the current one; null if none was recorded, and for a single account',
    }),
    coverage: Type.Array(CoverageSchema, {
      description: 'By source, last values recorded on that day; empty if none were recorded, and for a single account',
    }),
  },
  { title: 'ActivityDay' },
)
export type ActivityDay = Static<typeof DaySchema>

const Period = Type.Object(
  { from: Type.String({ format: 'date' }), to: Type.String({ format: 'date', description: 'Inclusive' }) },
  { title: 'DayPeriod' },
)

export const ActivitySchema = Type.Object(
  {
    time_zone: Type.String({ description: 'Time zone of the days; days of requests are in UTC', examples: ['Europe/Istanbul'] }),
    period: Period,
    previous: Period,
    totals: FiguresSchema,
    previous_totals: FiguresSchema,
    days: Type.Array(DaySchema, { description: 'Every day of the period, oldest first' }),
    previous_days: Type.Array(DaySchema, { description: 'Every day of the previous period, oldest first' }),
    top_items: Type.Array(
      Type.Object(
        { item_id: Type.Integer(), name: Type.String(), code: orNull(Type.String()), units: Type.Integer(), turnover: Lira('Of the period') },
        { title: 'TopItem' },
      ),
      { description: `By turnover, at most ${TOP}` },
    ),
    top_sellers: Type.Array(
      Type.Object(
        {
          account_id: Type.Integer(),
          name: Type.String(),
          units: Type.Integer(),
          turnover: Lira('Of the period'),
          commission: Lira('Of the period'),
        },
        { title: 'TopSeller' },
      ),
      { description: `By turnover, at most ${TOP}` },
    ),
    top_callers: Type.Array(Type.Object({ account_id: Type.Integer(), name: Type.String(), requests: Type.Integer() }, { title: 'TopCaller' }), {
      description: `By requests with API keys, at most ${TOP}`,
    }),
  },
  { title: 'Activity' },
)
export type Activity = Static<typeof ActivitySchema>

export const readActivity = verb(
  {
    name: 'readActivity',
    needs: 'operator',
    input: Type.Object({
      days: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: MAX_DAYS,
          default: USUAL_DAYS,
          description: 'Number of days; the previous period has the same length',
        }),
      ),
      to: Type.Optional(day('Last day, inclusive; default: today')),
      account_id: boundedId('Only the sales, decisions, requests and deliveries of this account'),
    }),
  },
  async (
    ctx: Pick<MarketWriteCtx, 'db' | 'viewer' | 'now' | 'market'>,
    { days: length = USUAL_DAYS, to, account_id: account },
  ): Promise<Activity> => {
    const { db, market, now } = ctx
    const today = localDay(now(), market.timeZone)
    const { period, previous } = periodsOf(length, to, today)
    const accountId = account === undefined ? null : (await fetchAccount(db.kysely, account)).id
    const span = spanOf({ period, previous }, market.timeZone, accountId)
    // One snapshot, so that totals, days and top lists agree.
    return inTransaction(
      db,
      async (on) => {
        const sales = await salesByDay(on, span)
        const refunds = await refundsByDay(on, span)
        const decisions = await decisionsByDay(on, span)
        const requests = await requestsByDay(on, span)
        const deliveries = await deliveriesByDay(on, span)
        const noted = accountId === null ? await recordedDays(on, previous.from, period.to) : new Map<string, Map<string, number>>()
        const activeNow = accountId === null ? await activeListings(on, now()) : null
        const by = {
          sales: byDay(sales),
          refunds: byDay(refunds),
          decisions: byDay(decisions.flatMap((row) => (row.day === null ? [] : [{ ...row, day: row.day }]))),
          requests: byDay(requests.days),
          deliveries: byDay(deliveries.days),
        }
        const dayOf = (date: string): Counted => {
          const sale = by.sales.get(date)
          const delivery = since(deliveries.first, date) ? (by.deliveries.get(date) ?? { attempts: 0, failures: 0 }) : null
          const minor = { turnover: sale?.turnover ?? 0, payouts: sale?.payouts ?? 0, refunds: by.refunds.get(date)?.refunds ?? 0 }
          return {
            minor,
            day: date,
            orders: sale?.orders ?? 0,
            units: sale?.units ?? 0,
            ...amountsOf(minor),
            ...waitsOf(by.decisions.get(date)),
            requests: since(requests.first, date) ? (by.requests.get(date)?.requests ?? 0) : null,
            webhook_attempts: delivery?.attempts ?? null,
            webhook_failures: delivery?.failures ?? null,
            active_listings: date === today ? activeNow : (noted.get(date)?.get('active_listings') ?? null),
            coverage: coverageOf(noted.get(date)),
          }
        }
        const [days, before] = [daysOf(period).map(dayOf), daysOf(previous).map(dayOf)]
        const whole = (current: boolean) => decisions.find((row) => row.day === null && row.current === current)
        // An incomplete previous period is not comparable.
        const hasRequests = before.every((one) => one.requests !== null)
        const hasDeliveries = before.every((one) => one.webhook_attempts !== null)
        const previousTotals = totalsOf(before, whole(false))
        return {
          time_zone: market.timeZone,
          period,
          previous,
          totals: totalsOf(days, whole(true)),
          previous_totals: {
            ...previousTotals,
            ...(!hasRequests && { requests: null }),
            ...(!hasDeliveries && { webhook_attempts: null, webhook_failures: null }),
          },
          days: days.map(toResponse),
          previous_days: before.map(toResponse),
          top_items: (await topItems(on, span, TOP)).map((row) => ({ ...row, turnover: minorToNumber(row.turnover) })),
          top_sellers: (await topSellers(on, span, TOP)).map((row) => ({
            ...row,
            turnover: minorToNumber(row.turnover),
            commission: minorToNumber(row.commission),
          })),
          top_callers: await topCallers(on, span, TOP),
        }
      },
      { isolation: 'repeatable read' },
    )
  },
)

type PeriodOfDays = Activity['period']

function spanOf({ period, previous }: { period: PeriodOfDays; previous: PeriodOfDays }, zone: string, accountId: number | null): Span {
  const start = (date: string) => new Date(Temporal.PlainDate.from(date).toZonedDateTime(zone).epochMilliseconds)
  const days = [...daysOf(previous), ...daysOf(period)].map((date) => ({ day: date, from: start(date) }))
  return { before: start(previous.from), from: start(period.from), to: start(dayAfter(period.to)), days, zone, accountId }
}

/** @throws VALIDATION_ERROR if the period ends after today */
function periodsOf(length: number, to: string | undefined, today: string): { period: PeriodOfDays; previous: PeriodOfDays } {
  const last = Temporal.PlainDate.from(to ?? today)
  if (last.toString() > today) throw invalid('to', 'not_in_future')
  const from = last.subtract({ days: length - 1 })
  const before = from.subtract({ days: length })
  return {
    period: { from: from.toString(), to: last.toString() },
    previous: { from: before.toString(), to: from.subtract({ days: 1 }).toString() },
  }
}

function dayAfter(date: string): string {
  return Temporal.PlainDate.from(date).add({ days: 1 }).toString()
}

function daysOf({ from, to }: PeriodOfDays): string[] {
  const days: string[] = []
  for (let date = from; date <= to; date = dayAfter(date)) days.push(date)
  return days
}

function byDay<Row extends { day: string }>(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [row.day, row]))
}

function since(first: string | null, date: string): boolean {
  return first !== null && date >= first
}

/** In kuruş, so that sums are exact. */
type Minor = Record<'turnover' | 'payouts' | 'refunds', number>
type Counted = ActivityDay & { minor: Minor }

function amountsOf({ turnover, payouts, refunds }: Minor): Pick<Figure, 'turnover' | 'commission' | 'payouts' | 'refunds'> {
  return {
    turnover: minorToNumber(turnover),
    commission: minorToNumber(turnover - payouts),
    payouts: minorToNumber(payouts),
    refunds: minorToNumber(refunds),
  }
}

function waitsOf(row: DecidedRow | undefined): Pick<Figure, 'decided' | 'wait_p50_hours' | 'wait_p90_hours'> {
  const rounded = (hours: number | null | undefined) => (hours === null || hours === undefined ? null : Math.round(hours * 100) / 100)
  return { decided: row?.decided ?? 0, wait_p50_hours: rounded(row?.p50), wait_p90_hours: rounded(row?.p90) }
}

function totalsOf(days: readonly Counted[], decisions: DecidedRow | undefined): Figure {
  const sum = (of: (day: Counted) => number) => days.reduce((total, one) => total + of(one), 0)
  const sumIfComplete = (name: 'requests' | 'webhook_attempts' | 'webhook_failures') =>
    days.every((one) => one[name] === null) ? null : sum((one) => one[name] ?? 0)
  return {
    orders: sum((one) => one.orders),
    units: sum((one) => one.units),
    ...amountsOf({ turnover: sum((one) => one.minor.turnover), payouts: sum((one) => one.minor.payouts), refunds: sum((one) => one.minor.refunds) }),
    ...waitsOf(decisions),
    requests: sumIfComplete('requests'),
    webhook_attempts: sumIfComplete('webhook_attempts'),
    webhook_failures: sumIfComplete('webhook_failures'),
  }
}

function toResponse({ minor: _minor, ...day }: Counted): ActivityDay {
  return day
}

const PRICED = 'priced_items.'

function coverageOf(counts: Map<string, number> | undefined): ActivityDay['coverage'] {
  const items = counts?.get('items') ?? 0
  if (!counts || items === 0) return []
  return [...counts].flatMap(([name, count]) => {
    if (!name.startsWith(PRICED)) return []
    const [market, group = ''] = name.slice(PRICED.length).split('.') as [Market, string?]
    return [{ market, group, coverage: count / items }]
  })
}
