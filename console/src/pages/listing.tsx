// One listing: what it offers, what changed since it was approved, and what an operator may do with it.
import { useState } from 'preact/hooks'
import { useRoute } from 'preact-iso'
import { useData, useWrite } from '../data.ts'
import type { Listing, PricedItem } from '../rows.ts'
import { Dialog, Field, Form, type Values } from '../ui/dialog.tsx'
import { Heading } from '../ui/heading.tsx'
import { Named } from '../ui/named.tsx'
import { Await, Facts, Refusal, Status } from '../ui/states.tsx'
import { Table } from '../ui/table.tsx'
import { announce } from '../ui/toasts.tsx'
import { count, moment, t, term } from '../words.ts'
import { shown } from './audit.tsx'
import { Picture } from './catalogue.tsx'
import { ListingFields, listingFields } from './listings.tsx'
import { lira, priceText } from './prices.ts'

export function ListingPage() {
  const id = Number(useRoute().params.id)
  const listing = useData<Listing>(`/listings/${id}`)
  const [task, setTask] = useState<'edit' | 'reject' | null>(null)
  const { busy, error, write, clear } = useWrite()
  const done = (text: string) => {
    setTask(null)
    announce(text)
    listing.reload()
  }
  const close = () => {
    setTask(null)
    clear()
  }
  const approve = async () => {
    if (await write('POST', `/listings/${id}/approve`, {})) done(t('approved'))
  }
  const reject = async (values: Values) => {
    if (await write('POST', `/listings/${id}/reject`, { reason: values.reason })) done(t('rejectedNow'))
  }
  const save = async (values: Values) => {
    if (await write('PATCH', `/listings/${id}`, listingFields(values))) done(t('saved'))
  }
  return (
    <>
      <p class="trail">
        <a href="/console/listings">{t('listings')}</a>
      </p>
      <Await of={listing} title={t('listing')}>
        {(row) => (
          <>
            <div class="head">
              <Heading>{row.title}</Heading>
              <div class="actions">
                <button type="button" onClick={() => setTask('edit')}>
                  {t('edit')}
                </button>
                {['pending', 'rejected'].includes(row.status) && (
                  <button type="button" class="main" disabled={busy} onClick={() => void approve()}>
                    {t('approve')}
                  </button>
                )}
                {!['rejected', 'sold'].includes(row.status) && (
                  <button type="button" class="danger" disabled={busy} onClick={() => setTask('reject')}>
                    {t('reject')}
                  </button>
                )}
              </div>
            </div>
            {task === null && <Refusal error={error} />}
            <ListingBeside listing={row} />
            {task === 'edit' && (
              <Dialog title={row.title} onClose={close}>
                <Form submit={t('save')} busy={busy} error={error} onSubmit={(values) => void save(values)} onCancel={close}>
                  <ListingFields listing={row} />
                </Form>
              </Dialog>
            )}
            {task === 'reject' && <RejectDialog busy={busy} error={error} onReject={(values) => void reject(values)} onClose={close} />}
          </>
        )}
      </Await>
    </>
  )
}

interface RejectProps {
  count?: number
  busy: boolean
  error: Parameters<typeof Form>[0]['error']
  onReject: (values: Values) => void
  onClose: () => void
}

export function RejectDialog({ count: number = 1, busy, error, onReject, onClose }: RejectProps) {
  return (
    <Dialog title={t('rejectTitle', { count: number })} onClose={onClose}>
      <Form submit={t('reject')} danger busy={busy} error={error} onSubmit={onReject} onCancel={onClose}>
        <Field label={t('reason')} hint={t('reasonHint')}>
          <textarea name="reason" rows={3} required />
        </Field>
      </Form>
    </Dialog>
  )
}

/** A listing beside its card and the card's prices, with what changed since the last approval marked. */
export function ListingBeside({ listing }: { listing: Listing }) {
  const item = useData<PricedItem>(`/items/${listing.item_id}`)
  const changes = listing.changed_since_approval
  const changed = new Set(changes?.map((change) => change.field))
  const mark = (field: string, text: string) => (changed.has(field) ? <mark>{text}</mark> : text)
  return (
    <div class="beside">
      <div>
        {listing.images.length > 0 && (
          <div class="pictures">
            {listing.images.map(({ url }) => (
              <a key={url} href={url} target="_blank" rel="noreferrer">
                <img src={url} alt={t('pictureOf', { title: listing.title })} loading="lazy" referrerpolicy="no-referrer" />
              </a>
            ))}
          </div>
        )}
        <Facts
          brief
          rows={[
            [t('id'), String(listing.id)],
            [t('state'), <Status key="state" code={listing.status} />],
            [t('price'), mark('price', lira(listing.price))],
            [t('approvedPrice'), listing.approved_price === null ? null : lira(listing.approved_price)],
            [t('stock'), mark('quantity', count(listing.quantity))],
            [t('seller'), <Named key="seller" of="accounts" id={listing.seller_id} />],
            [t('spoken'), listing.language],
            [t('shippingPayer'), mark('shipping_payer', term('payer', listing.shipping_payer))],
            [t('offers'), mark('offers_enabled', listing.offers_enabled ? t('yes') : t('no'))],
            [t('lowestOffer'), listing.min_offer_price === null ? null : mark('min_offer_price', lira(listing.min_offer_price))],
            [t('waitingSince'), listing.waiting_since && moment(listing.waiting_since)],
            [t('expires'), listing.expires_at && moment(listing.expires_at)],
            [t('highlightedUntil'), listing.highlighted_until && moment(listing.highlighted_until)],
            [t('rejectionReason'), listing.rejection_reason],
          ]}
        />
        {listing.description && <p class="prose">{mark('description', listing.description)}</p>}
        {changes === null ? (
          <p class="quiet">{t('firstApproval')}</p>
        ) : changes.length === 0 ? (
          <p class="quiet">{t('noChanges')}</p>
        ) : (
          <Table
            caption={t('changedSince')}
            rows={changes}
            rowKey={(change) => change.field}
            columns={[
              { head: t('changedSince'), cell: (change) => term('field', change.field) },
              { head: t('approvedWas'), cell: (change) => <del>{shown(change.approved)}</del> },
              { head: t('nowIs'), cell: (change) => <ins>{shown(change.now)}</ins> },
            ]}
          />
        )}
      </div>
      <Await of={item}>
        {(row) => (
          <div class="card-beside">
            {row.images.length > 0 && <Picture item={row} />}
            <div>
              <h3>
                <a href={`/console/catalogue/items/${row.id}`}>{row.name}</a> <span class="quiet">{row.code}</span>
              </h3>
              <p class="quiet">{row.category.name}</p>
              <ul class="prices">
                {row.prices.map((price) => (
                  <li key={`${price.market} ${price.label}`}>
                    <span>
                      {price.label} <span class="quiet">{term('market', price.market)}</span>
                    </span>
                    <strong>{priceText(price.price, price.market)}</strong>
                  </li>
                ))}
              </ul>
              {row.prices.length === 0 && <p class="quiet">{t('noPrices')}</p>}
            </div>
          </div>
        )}
      </Await>
    </div>
  )
}
