// SQL of the activity in a period and the previous one, by day: sales, refunds, decisions about listings, requests, deliveries.
import { type RawBuilder, sql } from 'kysely'
import { idForSql } from '#core/fields.ts'
import type { Queryable } from '#db/schema.ts'

/** A period and the previous one of the same length, for all accounts or one. */
export interface Span {
  /** start of the previous period, start of the period, and start of the day after it */
  before: Date
  from: Date
  to: Date
  /** every day of both periods, with its start */
  days: readonly { day: string; from: Date }[]
  /** IANA time zone of the days */
  zone: string
  accountId: number | null
}

/** A day in the time zone of the span, as text such as 2026-11-23. */
type DayRow<Values> = Values & { day: string }

const AMOUNT = sql`s.unit_price * s.quantity`

/** Converts an exact sum in lira to kuruş as a number: an integer below 2^53. */
function kurus(lira: RawBuilder<unknown>): RawBuilder<number> {
  return sql`((${lira}) * 100)::float8`
}

/** Sales that were not cancelled; without an account, an index-only scan of `sales_of_periods`. */
function sold({ to, accountId }: Span, from: Date): RawBuilder<unknown> {
  return sql`
    from sales s where s.sold_at >= ${from} and s.sold_at < ${to} ${ofSeller(accountId)}
      and not exists (select from sale_cancellations c where c.sale_id = s.id)`
}

function ofSeller(accountId: number | null): RawBuilder<unknown> {
  return accountId === null ? sql`` : sql`and s.seller_id = ${accountId}`
}

function dayOf(moment: RawBuilder<unknown>, { zone }: Span): RawBuilder<unknown> {
  return sql`(${moment} at time zone ${zone})::date`
}

function text(day: RawBuilder<unknown>): RawBuilder<string> {
  return sql`to_char(${day}, 'YYYY-MM-DD')`
}

export interface SoldRow {
  orders: number
  units: number
  /** in kuruş, like all amounts here */
  turnover: number
  payouts: number
}

/** Both periods by day of sale; days without sales have no row. */
export async function salesByDay(on: Queryable, span: Span): Promise<DayRow<SoldRow>[]> {
  const { days, before, to, accountId } = span
  const starts = [...days.map(({ from }) => from), to].map((moment) => moment.toISOString())
  // Sums all lines by index ranges of days and subtracts the few cancelled ones: converting each line's time zone, or looking up its
  // cancellation, takes several times as long.
  const { rows } = await sql<DayRow<SoldRow>>`
    with cancelled as (
      select ${text(dayOf(sql`s.sold_at`, span))} as day, s.order_id, count(*) as lines,
        sum(s.quantity) as units, sum(${AMOUNT}) as turnover, sum(s.payout) as payouts
      from sale_cancellations c join sales s on s.id = c.sale_id
      where s.sold_at >= ${before} and s.sold_at < ${to} ${ofSeller(accountId)}
      group by 1, 2
    ), less as (
      select day, sum(units) as units, sum(turnover) as turnover, sum(payouts) as payouts,
        count(*) filter (where lines = (select count(*) from sales s where s.order_id = cancelled.order_id ${ofSeller(accountId)})) as orders
      from cancelled group by day
    )
    select day, (a.orders - coalesce(less.orders, 0))::int4 as orders, (a.units - coalesce(less.units, 0))::int4 as units,
      ${kurus(sql`a.turnover - coalesce(less.turnover, 0)`)} as turnover, ${kurus(sql`a.payouts - coalesce(less.payouts, 0)`)} as payouts
    from unnest(${days.map(({ day }) => day)}::text[], ${starts.slice(0, -1)}::timestamptz[], ${starts.slice(1)}::timestamptz[]) as d(day, since, until)
    cross join lateral (
      select count(distinct s.order_id) as orders, sum(s.quantity) as units, sum(${AMOUNT}) as turnover, sum(s.payout) as payouts
      from sales s where s.sold_at >= d.since and s.sold_at < d.until ${ofSeller(accountId)}
    ) a
    left join less using (day)
    where a.orders > 0`.execute(on)
  return rows
}

/** Both periods by day of cancellation. */
export async function refundsByDay(on: Queryable, span: Span): Promise<DayRow<{ refunds: number }>[]> {
  const { rows } = await sql<DayRow<{ refunds: number }>>`
    select ${text(sql`day`)} as day, refunds from (
      select ${dayOf(sql`c.cancelled_at`, span)} as day, ${kurus(sql`sum(${AMOUNT})`)} as refunds
      from sale_cancellations c join sales s on s.id = c.sale_id
      where c.cancelled_at >= ${span.before} and c.cancelled_at < ${span.to} ${span.accountId === null ? sql`` : sql`and c.seller_id = ${span.accountId}`}
      group by 1
    ) days`.execute(on)
  return rows
}

export interface DecidedRow {
  decided: number
  p50: number | null
  p90: number | null
}

/** Decisions of both periods by day, and of each period as a whole with a `day` of null. Waiting times are hours until a person decided. */
export async function decisionsByDay(on: Queryable, span: Span): Promise<(DecidedRow & { day: string | null; current: boolean })[]> {
  // Listings that were not in the queue, such as one taken down, did not wait; rules decide without delay.
  const waited = sql`extract(epoch from d.decided_at - (d.before ->> 'waiting_since')::timestamptz) / 3600`
  const percentile = (share: number) =>
    sql`(percentile_cont(${sql.lit(share)}) within group (order by ${waited}) filter (where d.rule_id is null))::float8`
  const { rows } = await sql<DecidedRow & { day: string | null; current: boolean }>`
    select ${text(sql`day`)} as day, current, decided, p50, p90 from (
      select ${dayOf(sql`d.decided_at`, span)} as day, d.decided_at >= ${span.from}::timestamptz as current, count(*)::int4 as decided,
        ${percentile(0.5)} as p50, ${percentile(0.9)} as p90
      from listing_decisions d
      where d.decision is not null and d.undone_at is null and d.decided_at >= ${span.before} and d.decided_at < ${span.to}
        ${span.accountId === null ? sql`` : sql`and d.seller_id = ${span.accountId}`}
      group by grouping sets ((1, 2), (2))
    ) days`.execute(on)
  return rows
}

/** Both periods by day (UTC), and the first day stored for any account; null for none. */
export async function requestsByDay(on: Queryable, span: Span): Promise<{ first: string | null; days: DayRow<{ requests: number }>[] }> {
  const [first, days] = await Promise.all([
    sql<{ day: string | null }>`select ${text(sql`min(day)`)} as day from api_key_usage`.execute(on),
    sql<DayRow<{ requests: number }>>`
      select ${text(sql`u.day`)} as day, sum(u.requests)::float8 as requests
      from api_key_usage u ${span.accountId === null ? sql`` : sql`join api_keys k on k.id = u.key_id and k.account_id = ${span.accountId}`}
      where u.day >= ${dayOf(sql`${span.before}::timestamptz`, span)} and u.day < ${dayOf(sql`${span.to}::timestamptz`, span)}
      group by u.day`.execute(on),
  ])
  return { first: first.rows[0]!.day, days: days.rows }
}

export interface DeliveryRow {
  attempts: number
  failures: number
}

/** Attempts in both periods by day, without replays and checks, and the day of the first stored attempt; null for none. */
export async function deliveriesByDay(on: Queryable, span: Span): Promise<{ first: string | null; days: DayRow<DeliveryRow>[] }> {
  const [first, days] = await Promise.all([
    sql<{ day: string | null }>`
      select ${text(dayOf(sql`min(finished_at)`, span))} as day from webhook_attempts`.execute(on),
    sql<DayRow<DeliveryRow>>`
      select ${text(sql`day`)} as day, attempts, failures from (
        select ${dayOf(sql`finished_at`, span)} as day, count(*)::int4 as attempts, (count(*) filter (where not success))::int4 as failures
        from webhook_attempts where mark is null and finished_at >= ${span.before} and finished_at < ${span.to}
          ${span.accountId === null ? sql`` : sql`and account_id = ${span.accountId}`}
        group by 1
      ) days`.execute(on),
  ])
  return { first: first.rows[0]!.day, days: days.rows }
}

/** The items with the highest turnover in the period. */
export async function topItems(on: Queryable, span: Span, most: number) {
  const { rows } = await sql<{ item_id: number; name: string; code: string | null; units: number; turnover: number }>`
    select t.item_id, i.name, i.code, t.units, ${kurus(sql`t.turnover`)} as turnover from (
      select s.item_id, sum(s.quantity)::int4 as units, sum(${AMOUNT}) as turnover ${sold(span, span.from)}
      group by s.item_id order by turnover desc, s.item_id limit ${most}
    ) t join items i on i.id = t.item_id order by t.turnover desc, t.item_id`.execute(on)
  return rows
}

/** The sellers with the highest turnover in the period. */
export async function topSellers(on: Queryable, span: Span, most: number) {
  const { rows } = await sql<{ account_id: number; name: string; units: number; turnover: number; commission: number }>`
    select t.seller_id as account_id, a.name, t.units, ${kurus(sql`t.turnover`)} as turnover, ${kurus(sql`t.turnover - t.payouts`)} as commission from (
      select s.seller_id, sum(s.quantity)::int4 as units, sum(${AMOUNT}) as turnover, sum(s.payout) as payouts ${sold(span, span.from)}
      group by s.seller_id order by turnover desc, s.seller_id limit ${most}
    ) t join accounts a on a.id = t.seller_id order by t.turnover desc, t.seller_id`.execute(on)
  return rows
}

/** The accounts whose keys sent the most requests in the period. */
export async function topCallers(on: Queryable, span: Span, most: number) {
  const { rows } = await sql<{ account_id: number; name: string; requests: number }>`
    select a.id as account_id, a.name, sum(u.requests)::float8 as requests
    from api_key_usage u join api_keys k on k.id = u.key_id join accounts a on a.id = k.account_id
    where u.day >= ${dayOf(sql`${span.from}::timestamptz`, span)} and u.day < ${dayOf(sql`${span.to}::timestamptz`, span)}
      ${span.accountId === null ? sql`` : sql`and a.id = ${idForSql(span.accountId)}`}
    group by a.id order by requests desc, a.id limit ${most}`.execute(on)
  return rows
}
