// One listing: what it offers, what changed since it was approved, and what an operator may do with it.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useRoute } from 'preact-iso'
import { Dialog, Field, Form, type Values } from '#ui/dialog.tsx'
import { Heading } from '#ui/heading.tsx'
import { Await, Facts, Failure, Refusal, Status } from '#ui/states.tsx'
import { announce } from '#ui/toasts.tsx'
import { useData, useWrite } from '../api.ts'
import type { StoredListing } from '../api-types.ts'
import { Grade } from '../ui/grade.tsx'
import { ChangedMeanwhile, ChangeTable } from '../ui/listing-changes.tsx'
import { Named } from '../ui/named.tsx'
import { count, language, lira, moment, t, term } from '../words.ts'
import { Picture } from '../ui/picture.tsx'
import { changedFields, ListingFields, listingFields } from './listings.tsx'
import { priceText } from './prices.ts'

type Task = { kind: 'reject' } | { kind: 'edit'; opened: StoredListing } | null

export function ListingPage() {
  const id = Number(useRoute().params.id)
  const listing = useData(`/listings/${id}`)
  const [task, setTask] = useState<Task>(null)
  /** the listing as it was shown when a write was refused because it had changed */
  const [seen, setSeen] = useState<StoredListing | null>(null)
  const judged = useRef<StoredListing | null>(null)
  const { busy, error: failure, write, clear } = useWrite()
  const outdated = failure?.status === 412
  const error = outdated ? null : failure
  const { reload } = listing
  useEffect(() => {
    if (failure?.status !== 412) return
    setSeen(judged.current)
    reload()
  }, [failure, reload])
  const close = () => {
    setTask(null)
    clear()
  }
  /** A write of the state that is shown, and of no other. */
  const writeShown = async (row: StoredListing, send: () => Promise<unknown>, text: string) => {
    judged.current = row
    if (!(await send())) return
    setSeen(null)
    setTask(null)
    announce(text)
    reload()
  }
  const approve = (row: StoredListing) => writeShown(row, () => write('POST', `/listings/${id}/approve`, {}, row.etag), t('approved'))
  const reject = (row: StoredListing, { reason }: Values) =>
    writeShown(row, () => write('POST', `/listings/${id}/reject`, { reason: reason! }, row.etag), t('rejectedNow'))
  const save = async (row: StoredListing, opened: StoredListing, values: Values) => {
    const changes = changedFields(opened, listingFields(values))
    if (Object.keys(changes).length === 0) return close()
    await writeShown(row, () => write('PATCH', `/listings/${id}`, changes, row.etag), t('saved'))
  }
  const meanwhile = (row: StoredListing) => seen && <ChangedMeanwhile seen={seen} now={row} />
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
                <button type="button" onClick={() => setTask({ kind: 'edit', opened: row })}>
                  {t('edit')}
                </button>
                {['pending', 'rejected'].includes(row.status) && (
                  <button type="button" class="main" disabled={busy} onClick={() => void approve(row)}>
                    {t('approve')}
                  </button>
                )}
                {!['rejected', 'sold'].includes(row.status) && (
                  <button type="button" class="danger" disabled={busy} onClick={() => setTask({ kind: 'reject' })}>
                    {t('reject')}
                  </button>
                )}
              </div>
            </div>
            {listing.error && <Failure error={listing.error} retry={reload} />}
            {task === null && <Refusal error={error} />}
            {task === null && meanwhile(row)}
            <ListingBeside listing={row} />
            {task?.kind === 'edit' && (
              <Dialog title={task.opened.title} onClose={close}>
                <Form submit={t('save')} busy={busy} error={error} onSubmit={(values) => void save(row, task.opened, values)} onCancel={close}>
                  {meanwhile(row)}
                  <ListingFields listing={task.opened} />
                </Form>
              </Dialog>
            )}
            {task?.kind === 'reject' && (
              <RejectDialog busy={busy} error={error} onReject={(values) => void reject(row, values)} onClose={close}>
                {meanwhile(row)}
              </RejectDialog>
            )}
          </>
        )}
      </Await>
    </>
  )
}

interface RejectProps {
  count?: number
  /** what was typed before */
  reason?: string
  children?: ComponentChildren
  busy: boolean
  error: Parameters<typeof Form>[0]['error']
  onReject: (values: Values) => void
  onClose: () => void
}

export function RejectDialog({ count: number = 1, reason, children, busy, error, onReject, onClose }: RejectProps) {
  return (
    <Dialog title={t('rejectTitle', { count: number })} onClose={onClose}>
      <Form submit={t('reject')} danger busy={busy} error={error} onSubmit={onReject} onCancel={onClose}>
        {children}
        <Field label={t('reason')} hint={t('reasonHint')}>
          <textarea name="reason" rows={3} required defaultValue={reason} />
        </Field>
      </Form>
    </Dialog>
  )
}

function GradeOf({ listing, changed }: { listing: StoredListing; changed: boolean }) {
  const grade = <Grade id={listing.grade_id} />
  return changed ? <mark>{grade}</mark> : grade
}

/** A listing beside its card and the card's prices, with what changed since the last approval marked. */
export function ListingBeside({ listing }: { listing: StoredListing }) {
  const item = useData(`/items/${listing.item_id}`)
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
            [t('grade'), <GradeOf key="grade" listing={listing} changed={changed.has('grade_id')} />],
            [t('spoken'), mark('language', listing.language === null ? t('notStated') : language(listing.language))],
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
          <ChangeTable
            caption={t('changedSince')}
            before={t('approvedWas')}
            changes={changes.map(({ field, approved, now }) => ({ field, before: approved, now }))}
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
