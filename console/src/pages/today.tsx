// Today: pending work, activity compared to the previous period, top lists, and the health of sources and receivers, each with a link to its page.
import type { ComponentChildren } from 'preact'
import { Heading } from '#ui/heading.tsx'
import { Await, Status } from '#ui/states.tsx'
import { Table } from '#ui/table.tsx'
import { Tile } from '#ui/tile.tsx'
import { useData } from '../api.ts'
import type { Activity as ActivityAnswer, Finding, Stats } from '../api-types.ts'
import { listingStatusValues as LISTING_STATUSES } from '../api-values.ts'
import { Activity } from '../ui/activity.tsx'
import { RecordLink } from '../ui/record-link.tsx'
import { ago, count, lira, share, t, termText } from '../words.ts'
import { textsOfFinding } from './health.tsx'

const REFRESH_MS = 60_000
/** Receivers shown: those with the lowest success rate. */
const MAX_RECEIVERS = 10

export function TodayPage() {
  const stats = useData('/stats', { again: () => REFRESH_MS })
  return (
    <>
      <Heading>{t('today')}</Heading>
      <Await of={stats}>
        {(data) => (
          <>
            {data.rates?.ok === false && <RatesProblem of={data.rates} />}
            <Waiting stats={data} />
            <Activity accountId={null}>{(activity) => <Panels stats={data} activity={activity} />}</Activity>
          </>
        )}
      </Await>
    </>
  )
}

function RatesProblem({ of }: { of: Finding }) {
  const { found, advice } = textsOfFinding(of)
  return (
    <div class="refusal" role="status">
      <p>
        <a href="/console/rates">{t('rates')}</a>: {found}
      </p>
      <p>{advice}</p>
    </div>
  )
}

function Waiting({ stats }: { stats: Stats }) {
  const { listings, imports, matches, notices, webhook_events: events, webhooks_failing: failing, waiting_since: since } = stats
  const held = Object.entries(stats.held_prices).sort(([, a], [, b]) => b - a)
  const [first] = held
  const allHeld = held.reduce((sum, [, number]) => sum + number, 0)
  const waiting = listings.pending ?? 0
  const inQuestion = useData('/price-reviews/count', { again: () => REFRESH_MS }).data
  return (
    <div class="tiles">
      <Tile href="/console/approvals" label={t('approvalsWaiting')} value={waiting} waits={waiting > 0}>
        {since.approval && t('oldest', { ago: ago(since.approval) })}
      </Tile>
      <Tile href="/console/price-reviews?state=held" label={t('heldPrices')} value={allHeld} waits={held.length > 0}>
        {first && `${termText('rule', first[0])}: ${count(first[1])}`}
        {first && held.length > 1 && `, ${t('andMore', { count: allHeld - first[1] })}`}
      </Tile>
      <Tile href="/console/price-reviews?state=disputed" label={t('disputedPrices')} value={inQuestion?.disputed ?? 0} waits={false}>
        {inQuestion && t('stalePrices', { count: inQuestion.stale })}
      </Tile>
      <Tile href="/console/matches" label={t('matchesWaiting')} value={matches.waiting} waits={matches.waiting > 0}>
        {matches.postponed > 0 && t('matchesPostponed', { count: matches.postponed })}
      </Tile>
      <Tile href="/console/sources" label={t('ratiosWaiting')} value={stats.usual_ratios_open} waits={stats.usual_ratios_open > 0} />
      <Tile href="/console/notices" label={t('noticesOpen')} value={notices.open} waits={notices.open > 0}>
        {notices.overdue > 0 && t('noticesOverdue', { count: notices.overdue })}
      </Tile>
      <Tile href="/console/webhooks?state=queued" label={t('webhooksWaiting')} value={events.queued ?? 0} waits={false}>
        {since.webhook_event && t('oldest', { ago: ago(since.webhook_event) })}
      </Tile>
      <Tile href="/console/webhooks?state=failed" label={t('webhooksFailed')} value={events.failed ?? 0} waits={failing > 0}>
        {t('webhooksFailing', { count: failing })}
      </Tile>
      <Tile href="/console/imports?status=running" label={t('importsUnderWay')} value={(imports.queued ?? 0) + (imports.running ?? 0)} waits={false}>
        {t('importsFailed', { count: imports.failed ?? 0 })}
      </Tile>
    </div>
  )
}

function Panels({ stats, activity }: { stats: Stats; activity: ActivityAnswer }) {
  const { listings } = stats
  const mostListings = Math.max(1, ...LISTING_STATUSES.map((status) => listings[status] ?? 0))
  return (
    <div class="panels">
      <Panel id="top-items" title={t('topItems')} link={{ href: '/console/orders', text: t('orders') }} empty={activity.top_items.length === 0}>
        <Table
          caption={t('topItems')}
          rows={activity.top_items}
          rowKey={(row) => row.item_id}
          columns={[
            {
              head: t('item'),
              cell: (row) => (
                <a href={`/console/catalogue/items/${row.item_id}`}>
                  {row.name} <span class="quiet">{row.code}</span>
                </a>
              ),
            },
            { head: t('units'), number: true, cell: (row) => count(row.units) },
            { head: t('turnover'), number: true, cell: (row) => lira(row.turnover) },
          ]}
        />
      </Panel>
      <Panel
        id="top-sellers"
        title={t('topSellers')}
        link={{ href: '/console/accounts', text: t('accounts') }}
        empty={activity.top_sellers.length === 0}
      >
        <Table
          caption={t('topSellers')}
          rows={activity.top_sellers}
          rowKey={(row) => row.account_id}
          columns={[
            { head: t('seller'), cell: (row) => <a href={`/console/accounts/${row.account_id}`}>{row.name}</a> },
            { head: t('turnover'), number: true, cell: (row) => lira(row.turnover) },
            { head: t('commission'), number: true, cell: (row) => lira(row.commission) },
          ]}
        />
      </Panel>
      <Panel id="feeds" title={t('priceCoverage')} link={{ href: '/console/sources', text: t('priceSources') }} empty={stats.sources.length === 0}>
        <Table
          caption={t('priceCoverage')}
          rows={stats.sources}
          rowKey={(source) => `${source.market} ${source.group}`}
          columns={[
            {
              head: t('source'),
              cell: (source) => (
                <>
                  {termText('market', source.market)} <span class="quiet">{termText('group', source.group)}</span>
                </>
              ),
            },
            { head: t('coverage'), number: true, cell: (source) => <Coverage source={source} days={activity.days} /> },
            { head: termText('status', 'trusted'), number: true, cell: (source) => share(source.prices === 0 ? 0 : source.trusted / source.prices) },
            {
              head: t('newestFeed'),
              cell: (source) => {
                const late = stats.late_sources.includes(source.market)
                return source.last_price_at === null ? (
                  t('never')
                ) : (
                  <span class={late ? 'status wait' : 'status good'}>
                    {late ? t('feedLate', { ago: ago(source.last_price_at) }) : ago(source.last_price_at)}
                  </span>
                )
              },
            },
          ]}
        />
      </Panel>
      <Panel id="by-status" title={t('listingsByStatus')} link={{ href: '/console/listings', text: t('listings') }} empty={false}>
        <ul class="ranks">
          {LISTING_STATUSES.map((status) => (
            <li key={status}>
              <a href={`/console/listings?status=${status}`}>{termText('status', status)}</a>
              <meter min={0} max={mostListings} value={listings[status] ?? 0} aria-label={termText('status', status)} />
              <span class="number">{count(listings[status] ?? 0)}</span>
            </li>
          ))}
        </ul>
      </Panel>
      <Panel id="top-callers" title={t('apiUse')} link={{ href: '/console/accounts', text: t('accounts') }} empty={activity.top_callers.length === 0}>
        <Table
          caption={t('apiUse')}
          rows={activity.top_callers}
          rowKey={(row) => row.account_id}
          columns={[
            { head: t('account'), cell: (row) => <a href={`/console/accounts/${row.account_id}?view=usage`}>{row.name}</a> },
            { head: t('requests'), number: true, cell: (row) => count(row.requests) },
          ]}
        />
      </Panel>
      <Panel
        id="receivers"
        title={t('webhookHealth')}
        link={{ href: '/console/webhooks', text: t('webhooks') }}
        empty={stats.webhook_receivers.length === 0}
      >
        <Table
          caption={t('webhookHealth')}
          rows={stats.webhook_receivers.slice(0, MAX_RECEIVERS)}
          rowKey={(row) => row.account_id}
          columns={[
            { head: t('account'), cell: (row) => <RecordLink of="accounts" id={row.account_id} view="webhook" /> },
            { head: t('attempts'), number: true, cell: (row) => count(row.attempts) },
            { head: t('webhookSuccess'), number: true, cell: (row) => share(row.success_share) },
            { head: t('state'), cell: (row) => <Status code={row.success_share === 1 ? 'delivered' : 'failed'} /> },
          ]}
        />
      </Panel>
    </div>
  )
}

type Source = Stats['sources'][number]

/** The share of items with a price of the source, and its change in percentage points since the start of the period. */
function Coverage({ source, days }: { source: Source; days: ActivityAnswer['days'] }) {
  const first = days.flatMap(({ coverage }) => coverage.filter((one) => one.market === source.market && one.group === source.group))[0]
  const points = first ? Math.round((source.coverage - first.coverage) * 1000) / 10 : 0
  return (
    <>
      {share(source.coverage)}{' '}
      {points !== 0 && (
        <span class={`change ${points > 0 ? 'good' : 'bad'}`}>
          {points > 0 ? '+' : '−'}
          {t('points', { count: Math.abs(points) })}
        </span>
      )}
    </>
  )
}

interface PanelProps {
  id: string
  title: string
  link: { href: string; text: string }
  empty: boolean
  children: ComponentChildren
}

function Panel({ id, title, link, empty, children }: PanelProps) {
  return (
    <section class="panel" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        <a href={link.href}>{link.text}</a>
      </header>
      {empty ? <p class="quiet">{t('nothingYet')}</p> : children}
    </section>
  )
}
