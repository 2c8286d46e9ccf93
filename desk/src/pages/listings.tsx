// The seller's listings: search, sort, reprice, restock, pause, publish, highlight and delete, one by one or several at once.
import { useState } from 'preact/hooks'
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
import { MarketPriceCell } from '../market-price-cell.tsx'
import { date, moment, t, termText } from '../words.ts'
import { ALLOWED, BulkActions, type BulkFailure, BulkFailures } from './bulk-actions.tsx'
import { EditBar, EditCell } from './edit-cells.tsx'
import { RuleLink } from './price-job.tsx'

const STATUSES: OwnListing['status'][] = ['active', 'pending', 'paused', 'rejected', 'expired', 'sold']
const ORDERS = ['latest', 'changed', 'title', 'price_low', 'price_high', 'quantity_low', 'quantity_high', 'expiring'] as const

export function ListingsPage() {
  const [version, changed] = useVersion()
  const { busy, error, write } = useWrite()
  const [failures, setFailures] = useState<BulkFailure[]>([])
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
    actions: (rows, done) => (
      <BulkActions
        of={rows}
        onDone={(failed) => {
          setFailures(failed)
          done()
          changed()
        }}
      />
    ),
  }
  return (
    <>
      <Heading>{t('listings')}</Heading>
      <ListingTabs current="listings" />
      <Refusal error={error} />
      <BulkFailures of={failures} />
      <List
        path="/plus/my-listings"
        fixed={{ with_details: 1 }}
        caption={t('listings')}
        empty={t('noOwnListings')}
        version={version}
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
          { head: t('state'), cell: (listing) => <Status code={listing.status} /> },
          { head: t('price'), number: true, cell: (listing) => <EditCell of={listing} field="price" /> },
          ...(mayWrite() ? [marketPriceColumn()] : []),
          { head: t('stock'), number: true, cell: (listing) => <EditCell of={listing} field="quantity" /> },
          { head: t('expires'), short: true, wide: true, cell: (listing) => (listing.expires_at ? date(listing.expires_at) : '–') },
          {
            head: t('actions'),
            cell: (listing) => mayWrite() && <Actions of={listing} busy={busy} act={act} highlight={highlight} remove={remove} />,
          },
        ]}
      />
      <EditBar />
    </>
  )
}

/** Not shown unless the seller selects it: its request plans a price job, which costs more than the list itself. */
const marketPriceColumn = () => ({
  head: t('marketPrice'),
  number: true,
  optional: true,
  cell: (listing: OwnListing) => <MarketPriceCell of={listing} />,
})

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
