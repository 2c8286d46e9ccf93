// Today: what waits, what sells, and whether feeds and webhooks flow; every number leads to its page.
import type { ComponentChildren } from 'preact'
import { Bars } from '#ui/bars.tsx'
import { Heading } from '#ui/heading.tsx'
import { Await } from '#ui/states.tsx'
import { useData } from '../api.ts'
import { listingStatusValues as LISTING_STATUSES, type Stats } from '../api-types.ts'
import { ago, count, lira, moment, share, t, term } from '../words.ts'

const AGAIN_MS = 60_000
const DAYS = 30
const OLD_FEED_MS = 48 * 3_600_000

export function TodayPage() {
  const stats = useData('/stats', { again: () => AGAIN_MS })
  return (
    <>
      <Heading>{t('today')}</Heading>
      <Await of={stats}>{(data) => <Overview stats={data} />}</Await>
    </>
  )
}

function Overview({ stats }: { stats: Stats }) {
  const { listings, imports, matches, webhook_events: events, webhooks_failing: failing, waiting_since: since, sources } = stats
  const days = lastDays(stats.sales)
  const today = days.at(-1)!
  const mostListings = Math.max(1, ...LISTING_STATUSES.map((status) => listings[status] ?? 0))
  const held = Object.entries(stats.held_prices).sort(([, a], [, b]) => b - a)
  const waiting = listings.pending ?? 0
  const inQuestion = useData('/price-reviews/count', { again: () => AGAIN_MS }).data
  return (
    <>
      <div class="tiles">
        <Tile href="/console/approvals" label={t('approvalsWaiting')} value={waiting} waits={waiting > 0}>
          {since.approval && t('oldest', { ago: ago(since.approval) })}
        </Tile>
        <Tile
          href="/console/price-reviews?state=held"
          label={t('heldPrices')}
          value={held.reduce((sum, [, number]) => sum + number, 0)}
          waits={held.length > 0}
        >
          {held.map(([rule, number]) => `${term('rule', rule)}: ${count(number)}`).join(' · ')}
        </Tile>
        <Tile href="/console/price-reviews?state=disputed" label={t('disputedPrices')} value={inQuestion?.disputed ?? 0} waits={false}>
          {inQuestion && t('stalePrices', { count: inQuestion.stale })}
        </Tile>
        <Tile href="/console/matches" label={t('matchesWaiting')} value={matches.waiting} waits={matches.waiting > 0}>
          {matches.postponed > 0 && t('matchesPostponed', { count: matches.postponed })}
        </Tile>
        <Tile href="/console/webhooks?state=queued" label={t('webhooksWaiting')} value={events.queued ?? 0} waits={false}>
          {since.webhook_event && t('oldest', { ago: ago(since.webhook_event) })}
        </Tile>
        <Tile href="/console/webhooks?state=failed" label={t('webhooksFailed')} value={events.failed ?? 0} waits={failing > 0}>
          {t('webhooksFailing', { count: failing })}
        </Tile>
        <Tile
          href="/console/imports?status=running"
          label={t('importsUnderWay')}
          value={(imports.queued ?? 0) + (imports.running ?? 0)}
          waits={false}
        >
          {t('importsFailed', { count: imports.failed ?? 0 })}
        </Tile>
      </div>
      <div class="panels">
        <section class="panel" aria-labelledby="sales-by-day">
          <header>
            <h2 id="sales-by-day">{t('salesByDay')}</h2>
            <a href="/console/orders">{t('orders')}</a>
          </header>
          <p class="figure">
            <strong>{lira(today.turnover)}</strong> <span class="quiet">{t('unitsToday', { count: today.quantity })}</span>
          </p>
          <Bars title={t('salesByDay')} days={days.map((entry) => ({ day: entry.day, value: entry.turnover }))} show={lira} />
        </section>
        <section class="panel" aria-labelledby="payouts-by-day">
          <header>
            <h2 id="payouts-by-day">{t('payoutsByDay')}</h2>
            <a href="/console/orders">{t('orders')}</a>
          </header>
          <p class="figure">
            <strong>{lira(today.payouts)}</strong> <span class="quiet">{t('todayWord')}</span>
          </p>
          <Bars title={t('payoutsByDay')} days={days.map((entry) => ({ day: entry.day, value: entry.payouts }))} show={lira} />
        </section>
        <section class="panel" aria-labelledby="by-status">
          <header>
            <h2 id="by-status">{t('listingsByStatus')}</h2>
            <a href="/console/listings">{t('listings')}</a>
          </header>
          <ul class="ranks">
            {LISTING_STATUSES.map((status) => (
              <li key={status}>
                <a href={`/console/listings?status=${status}`}>{term('status', status)}</a>
                <meter min={0} max={mostListings} value={listings[status] ?? 0} aria-label={term('status', status)} />
                <span class="number">{count(listings[status] ?? 0)}</span>
              </li>
            ))}
          </ul>
        </section>
        <section class="panel" aria-labelledby="feeds">
          <header>
            <h2 id="feeds">{t('feeds')}</h2>
            <a href="/console/imports">{t('imports')}</a>
          </header>
          <ul class="ranks feeds">
            {sources.map((source) => (
              <li key={`${source.market} ${source.group}`}>
                <span>
                  {term('market', source.market)} <span class="quiet">{term('group', source.group)}</span>
                </span>
                <span class="quiet number">{t('pricesAndCoverage', { prices: source.prices, share: share(source.coverage) })}</span>
                {source.last_price_at === null ? (
                  <span class="status">{t('never')}</span>
                ) : (
                  <span
                    class={Date.now() - Date.parse(source.last_price_at) > OLD_FEED_MS ? 'status wait' : 'status good'}
                    title={moment(source.last_price_at)}
                  >
                    {ago(source.last_price_at)}
                  </span>
                )}
              </li>
            ))}
          </ul>
          {sources.length === 0 && <p class="quiet">{t('noFeeds')}</p>}
        </section>
      </div>
    </>
  )
}

type Day = Stats['sales'][number]

/** Every one of the last days, oldest first, with those without sales. */
function lastDays(sales: Day[]): Day[] {
  const known = new Map(sales.map((entry) => [entry.day, entry]))
  return Array.from({ length: DAYS }, (_none, index) => {
    const day = new Date(Date.now() - (DAYS - 1 - index) * 86_400_000).toISOString().slice(0, 10)
    return known.get(day) ?? { day, sales: 0, quantity: 0, turnover: 0, payouts: 0 }
  })
}

interface TileProps {
  href: string
  label: string
  value: number
  /** someone should look */
  waits: boolean
  children?: ComponentChildren
}

function Tile({ href, label, value, waits, children }: TileProps) {
  return (
    <a class={waits ? 'tile waits' : 'tile'} href={href}>
      <span>{label}</span>
      <strong>{count(value)}</strong>
      <small>{children || '\u00a0'}</small>
    </a>
  )
}
