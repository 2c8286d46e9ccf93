// Overview of the service: counts by status, sales, queues, and price freshness.
import { sql } from 'kysely'
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import { PLANS } from '#core/plans.ts'
import { call, verb } from '#core/verb.ts'
import { FindingSchema } from '#health/findings.ts'
import { ratesFinding } from '#health/rates.ts'
import { workersSeen } from '#jobs/heartbeat.ts'
import { QUEUED, STATUSES } from '#market/records/rules.ts'
import { listSources, SourceHealthSchema, type SourcesCtx } from '#prices/reviews/list-sources.ts'
import { IMPORT_STATUSES } from '#prices/imports/stored-imports.ts'
import { receiverHealth, ReceiverHealthSchema } from '#webhooks/delivery/receiver-health.ts'
import { STATES } from '#webhooks/webhook-types.ts'
import { hiddenListings } from './active-listings.ts'

const SALES_DAYS = 30

const Time = Type.String({ format: 'date-time', description: 'UTC' })
const Counts = Type.Record(Type.String(), Type.Integer())

export const StatsSchema = Type.Object(
  {
    items: Type.Integer(),
    categories: Type.Integer(),
    accounts: Type.Record(Type.String(), Type.Integer(), { description: 'By plan, with suspended accounts counted separately' }),
    listings: Type.Record(Type.String(), Type.Integer(), { description: 'By status, excluding `listings_hidden`' }),
    listings_hidden: Type.Integer({ description: 'Active listings whose seller is suspended or on vacation' }),
    imports: Type.Record(Type.String(), Type.Integer(), { description: 'By status' }),
    held_prices: Type.Record(Type.String(), Type.Integer(), { description: 'Held prices by rule' }),
    matches: Type.Object({ waiting: Type.Integer(), postponed: Type.Integer() }, { description: 'Source records pending a match decision' }),
    notices: Type.Object({ open: Type.Integer(), overdue: Type.Integer() }, { description: 'Notices of infringement that wait for a decision' }),
    webhook_events: Type.Record(Type.String(), Type.Integer(), { description: 'By state; `queued` is the queue depth' }),
    webhooks_failing: Type.Integer({ description: 'Webhooks whose last attempt failed' }),
    webhook_receivers: Type.Array(ReceiverHealthSchema, { description: 'Success rate of each receiver in the last day, worst first' }),
    waiting_since: Type.Object(
      { approval: orNull(Time), webhook_event: orNull(Time) },
      { description: 'Age of the oldest entry in each queue; null if the queue is empty. Events of suspended accounts are not counted' },
    ),
    workers: Type.Object(
      {
        alive: Type.Integer({ description: 'Workers seen in the last minute' }),
        last_seen_seconds: orNull(Type.Number({ description: 'Seconds since a worker was last seen; null if none ever was' })),
      },
      { description: 'Processes that deliver webhooks and end publication periods: `serve` or `work`' },
    ),
    sales: Type.Array(
      Type.Object({
        day: Type.String({ format: 'date', description: 'UTC' }),
        sales: Type.Integer(),
        quantity: Type.Integer(),
        turnover: Type.Number({ description: 'TRY' }),
        payouts: Type.Number({ description: 'TRY' }),
      }),
      { description: `The last ${SALES_DAYS} days with sales, newest first; excluding cancelled sales` },
    ),
    prices_unchecked: Type.Record(Type.String(), Type.Integer(), {
      description: 'By market: prices that could not be compared because an exchange rate is missing',
    }),
    rates: orNull(FindingSchema, { description: 'Whether exchange rates are complete and current, as in `GET /health`; null without prices' }),
    sources: Type.Array(SourceHealthSchema, { description: 'Price sources by market and label group' }),
    late_sources: Type.Array(Type.Enum([...MARKETS]), { description: 'Sources whose next feed is overdue' }),
  },
  { title: 'Stats' },
)
export type Stats = Static<typeof StatsSchema>

export const readStats = verb({ name: 'readStats', needs: 'operator', input: Type.Object({}) }, async (ctx: SourcesCtx): Promise<Stats> => {
  const on = ctx.db.kysely
  const now = ctx.now()
  const { rows } = await sql<{ kind: string; name: string; count: number }>`
      select 'items' as kind, '' as name, count(*)::int as count from items
      union all select 'categories', '', count(*)::int from categories
      union all select 'accounts', case when suspended then 'suspended' else plan end, count(*)::int from accounts group by 2
      union all select 'listings', status, count(*)::int from listings group by 2
      union all select 'hidden', '', ${hiddenListings(now)}
      union all select 'imports', status, count(*)::int from imports group by 2
      union all select 'held_prices', rule, count(*)::int from held_prices where decision is null group by 2
      union all select 'matches', case when postponed then 'postponed' else 'waiting' end, count(*)::int from match_queue group by 2
      union all select 'notices', 'open', count(*)::int from notices where state = 'received'
      union all select 'notices', 'overdue', count(*)::int from notices where state = 'received' and due_at < ${now}
      union all select 'webhook_events', state, count(*)::int from webhook_events group by 2`.execute(on)
  // Missing states count as 0, so monitoring never has to handle their absence.
  const counts = (kind: string, names: readonly string[] = []): Static<typeof Counts> => ({
    ...Object.fromEntries(names.map((name) => [name, 0])),
    ...Object.fromEntries(rows.filter((row) => row.kind === kind).map((row) => [row.name, row.count])),
  })
  const listings = counts('listings', STATUSES)
  const hidden = counts('hidden')['']!
  const matches = counts('matches', ['waiting', 'postponed'])
  const notices = counts('notices', ['open', 'overdue'])
  const { rows: queues } = await sql<{ failing: number; approval: Date | null; webhook_event: Date | null }>`
      select (select count(*)::int from webhooks where failing and is_active) as failing,
        (select min(waiting_since) from listings where status = ${sql.lit(QUEUED)}) as approval,
        (select min(e.created_at) from webhook_events e join accounts a on a.id = e.account_id
          where e.state = 'queued' and not a.suspended) as webhook_event`.execute(on)
  const { failing, approval, webhook_event: webhookEvent } = queues[0]!
  const sales = await sql<{ day: string; sales: number; quantity: number; turnover: string; payouts: string }>`
      select to_char(sold_at at time zone 'UTC', 'YYYY-MM-DD') as day, count(*)::int as sales, sum(quantity)::int as quantity,
        sum(unit_price * quantity) as turnover, sum(payout) as payouts
      from uncancelled_sales where sold_at > ${now}::timestamptz - make_interval(days => ${SALES_DAYS}) group by 1 order by 1 desc`.execute(on)
  const workers = await workersSeen(on)
  const sources = await call(listSources, ctx, {})
  return {
    items: counts('items')['']!,
    categories: counts('categories')['']!,
    accounts: counts('accounts', [...PLANS, 'suspended']),
    listings: { ...listings, active: listings.active! - hidden },
    listings_hidden: hidden,
    imports: counts('imports', IMPORT_STATUSES),
    held_prices: counts('held_prices'),
    matches: { waiting: matches.waiting!, postponed: matches.postponed! },
    prices_unchecked: Object.fromEntries(sources.map(({ market, unchecked }) => [market, unchecked])),
    notices: { open: notices.open!, overdue: notices.overdue! },
    webhook_events: counts('webhook_events', STATES),
    webhooks_failing: failing,
    webhook_receivers: await receiverHealth(on, now),
    waiting_since: { approval: approval?.toISOString() ?? null, webhook_event: webhookEvent?.toISOString() ?? null },
    workers: { alive: workers.alive, last_seen_seconds: workers.lastSeenSeconds },
    sales: sales.rows.map((row) => ({ ...row, turnover: Number(row.turnover), payouts: Number(row.payouts) })),
    rates: await ratesFinding(on, sources, now),
    sources: sources.flatMap(({ groups }) => groups),
    late_sources: sources.flatMap(({ market, late }) => (late ? [market] : [])),
  }
})
