// The seller's listings: search, sort, reprice, restock, pause, publish, renew, highlight and delete, one by one or several at once.
import { useVersion } from '#ui/data.ts'
import { confirm } from '#ui/dialog.tsx'
import { Tabs } from '#ui/frame.tsx'
import { Heading } from '#ui/heading.tsx'
import { Picture } from '#ui/picture.tsx'
import { Refusal, Status } from '#ui/states.tsx'
import type { Bulk } from '#ui/table.tsx'
import { announce } from '#ui/toasts.tsx'
import type { OwnListing } from '../../../client/src/api.ts'
import { List, mayWrite, useWrite } from '../api.ts'
import { ALLOWED, bulkVersion, heldActionOf } from '../bulk.ts'
import { BulkNotices } from '../bulk-notices.tsx'
import { MarketPriceCell, PayoutCell, RankCell } from '../market-cells.tsx'
import { count, date, duration, moment, t, termText } from '../words.ts'
import { BulkActions } from './bulk-actions.tsx'
import { EditBar, EditCell, SkuCell } from './edit-cells.tsx'
import { RuleLink } from './price-job.tsx'

const STATUSES: OwnListing['status'][] = ['active', 'pending', 'paused', 'rejected', 'expired', 'sold']
const ORDERS = ['latest', 'changed', 'title', 'price_low', 'price_high', 'quantity_low', 'quantity_high', 'expiring'] as const

export function ListingsPage() {
  const [version, changed] = useVersion()
  const { busy, error, write } = useWrite()
  const act = async (listing: OwnListing, action: 'pause' | 'publish') => {
    const done = await write('POST', `/plus/listings/${listing.id}/status`, { action }, listing.etag)
    if (done) announce(t('nowInState', { title: listing.title, state: termText('status', done.data.status) }))
    changed()
  }
  const highlight = async (listing: OwnListing) => {
    const question = { title: t('highlightTitle', { title: listing.title }), text: t('highlightText'), action: t('highlight'), danger: false }
    if (!(await confirm(question))) return
    const done = await write('POST', '/plus/make-highlight', { id: listing.id })
    if (done) announce(t('highlighted', { count: done.data.remaining_highlight_credits }))
    changed()
  }
  const remove = async (listing: OwnListing) => {
    const question = { title: t('removeTitle', { name: listing.title }), text: t('deleteText'), action: t('delete') }
    if (!(await confirm(question))) return
    if (await write('DELETE', `/plus/listings/${listing.id}`, undefined, listing.etag)) announce(t('deleted', { title: listing.title }))
    changed()
  }
  const bulk: Bulk<OwnListing> = {
    nameOf: ({ title }) => title,
    actions: (rows, done) => <BulkActions of={rows} onStarted={done} />,
  }
  return (
    <>
      <Heading>{t('listings')}</Heading>
      <ListingTabs current="listings" />
      <Refusal error={error} />
      <BulkNotices />
      <List
        path="/plus/my-listings"
        fixed={{ with_details: 1 }}
        caption={t('listings')}
        empty={t('noOwnListings')}
        version={version + bulkVersion.value}
        filters={[
          { name: 'search', label: t('titleOrSku'), type: 'search' },
          { name: 'status', label: t('state'), options: STATUSES.map((code) => ({ value: code, text: termText('status', code) })) },
          { name: 'sort_by', label: t('sortBy'), options: ORDERS.map((code) => ({ value: code, text: termText('sort', code) })), always: true },
        ]}
        rowKey={(listing) => listing.id}
        actions={
          mayWrite() && (
            <a class="button main" href="/desk/listings/new">
              {t('newListing')}
            </a>
          )
        }
        bulk={mayWrite() ? bulk : undefined}
        columns={[
          { head: t('title'), cell: (listing) => <Title of={listing} /> },
          { head: t('state'), name: 'state', cell: (listing) => <State of={listing} /> },
          { head: 'SKU', name: 'sku', optional: true, cell: (listing) => <SkuCell of={listing} /> },
          { head: t('price'), name: 'price', number: true, cell: (listing) => <EditCell of={listing} field="price" /> },
          ...(mayWrite() ? planColumns() : []),
          { head: t('stock'), name: 'stock', number: true, cell: (listing) => <EditCell of={listing} field="quantity" /> },
          {
            head: t('recentViews'),
            name: 'views',
            number: true,
            optional: true,
            query: { with_views: 1 },
            cell: ({ views_7_days: views = 0 }) => count(views),
          },
          { head: t('endsIn'), name: 'ends', short: true, wide: true, cell: (listing) => <End of={listing} /> },
          {
            head: t('actions'),
            name: 'actions',
            cell: (listing) => mayWrite() && <Actions of={listing} busy={busy} act={act} highlight={highlight} remove={remove} />,
          },
        ]}
      />
      <EditBar />
    </>
  )
}

/** Not shown unless the seller selects them: their request plans a price job, which costs more than the list itself. */
const planColumns = () => {
  const column = { number: true, optional: true }
  return [
    { ...column, head: t('marketPrice'), name: 'market_price', cell: (listing: OwnListing) => <MarketPriceCell of={listing} /> },
    { ...column, head: t('rank'), name: 'rank', cell: (listing: OwnListing) => <RankCell of={listing} /> },
    { ...column, head: t('payout'), name: 'payout', cell: (listing: OwnListing) => <PayoutCell of={listing} /> },
  ]
}

function State({ of: listing }: { of: OwnListing }) {
  const held = heldActionOf(listing)
  return (
    <>
      <Status code={listing.status} /> {held && <small class="quiet">{t(held === 'delete' ? 'deletesSoon' : 'renewsSoon')}</small>}
    </>
  )
}

const HOUR_MS = 3_600_000

/** How long the period of a published or paused listing still lasts, and the day on which it ends or ended. */
function End({ of: { expires_at: end, status } }: { of: OwnListing }) {
  if (!end) return <>–</>
  const left = Date.parse(end) - Date.now()
  const lasts = (status === 'active' || status === 'paused') && left > 0
  return lasts ? <span title={date(end)}>{duration(left / HOUR_MS)}</span> : <span class="quiet">{date(end)}</span>
}

const TABS = [
  { name: 'listings', href: '/desk', text: 'listings' },
  { name: 'price-jobs', href: '/desk/price-jobs', text: 'priceJobs' },
  { name: 'repricing', href: '/desk/repricing', text: 'repricing' },
  { name: 'renewal', href: '/desk/renewal', text: 'renewal' },
  { name: 'files', href: '/desk/files', text: 'byFile' },
  { name: 'vacation', href: '/desk/vacation', text: 'vacation' },
] as const

export function ListingTabs({ current }: { current: (typeof TABS)[number]['name'] }) {
  return <Tabs tabs={TABS.map(({ name, href, text }) => ({ href, text: t(text), current: name === current }))} />
}

function Title({ of: { id, title, images, grade, sku, rejection_reason: reason, changed_by: by } }: { of: OwnListing }) {
  return (
    <>
      <span class="with-picture">
        {images.length > 0 && <Picture item={{ name: title, images }} small />}
        <span>
          <a href={`/desk/listings/${id}`}>{title}</a> <span class="quiet">{[grade?.label, sku].filter(Boolean).join(' · ')}</span>
        </span>
      </span>
      {reason && <p class="quiet">{t('rejectedFor', { reason })}</p>}
      {by && (
        <p class="quiet">
          {t('changedOn', { at: moment(by.at) })}{' '}
          {by.kind === 'price_job' ? <a href={`/desk/price-jobs/${by.id}`}>{t('priceJobOf', { id: String(by.id) })}</a> : <RuleLink id={by.id} />}
        </p>
      )}
    </>
  )
}

interface ActionsProps {
  of: OwnListing
  busy: boolean
  act: (listing: OwnListing, action: 'pause' | 'publish') => Promise<void>
  highlight: (listing: OwnListing) => Promise<void>
  remove: (listing: OwnListing) => Promise<void>
}

function Actions({ of: listing, busy, act, highlight, remove }: ActionsProps) {
  const button = (text: string, onClick: () => Promise<void>, danger = false) => (
    <button type="button" class={danger ? 'danger' : ''} disabled={busy} aria-label={`${text}: ${listing.title}`} onClick={() => void onClick()}>
      {text}
    </button>
  )
  return (
    <span class="buttons tight">
      {listing.status === 'active' && button(t('pause'), () => act(listing, 'pause'))}
      {ALLOWED.publish?.includes(listing.status) && button(t('publish'), () => act(listing, 'publish'))}
      {listing.status === 'active' && listing.quantity > 0 && button(t('highlight'), () => highlight(listing))}
      {button(t('delete'), () => remove(listing), true)}
    </span>
  )
}
