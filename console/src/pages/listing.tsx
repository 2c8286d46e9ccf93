// One listing: its content, changes since its approval, and the actions available to operators.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { useRoute } from 'preact-iso'
import { useData, useWrite } from '../api.ts'
import type { ListingReview, StoredListing } from '../api-types.ts'
import { Dialog, Form, type Values } from '#ui/dialog.tsx'
import { CertificateFacts, certificateText } from '../ui/certificate.tsx'
import { Grade } from '../ui/grade.tsx'
import { Heading } from '#ui/heading.tsx'
import { ChangedMeanwhile, ChangeTable } from '../ui/listing-changes.tsx'
import { RecordLink } from '../ui/record-link.tsx'
import { RefusalDialog, type RefusalKind } from '../ui/refusal-dialog.tsx'
import { Await, Facts, Failure, Refusal, Status } from '#ui/states.tsx'
import { announce } from '#ui/toasts.tsx'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { ListingPicture, Picture } from '../ui/picture.tsx'
import { calendarDay, count, language, lira, moment, rateText, t, termText } from '../words.ts'
import { changedFields, ListingFields, listingFields } from './listings.tsx'
import { priceText } from './prices.ts'

type Task = { kind: RefusalKind } | { kind: 'edit'; opened: StoredListing } | null

export function ListingPage() {
  const id = Number(useRoute().params.id)
  const listing = useData(`/listings/${id}`)
  const review = useData(`/listings/${id}/review`)
  const [task, setTask] = useState<Task>(null)
  /** the listing as displayed when a write was rejected because it had changed */
  const [seen, setSeen] = useState<StoredListing | null>(null)
  const judged = useRef<StoredListing | null>(null)
  const { busy, error: failure, write, clear } = useWrite()
  const outdated = failure?.status === 412
  const error = outdated ? null : failure
  const reloadAll = useCallback(() => {
    listing.reload()
    review.reload()
  }, [listing.reload, review.reload])
  useEffect(() => {
    if (failure?.status !== 412) return
    setSeen(judged.current)
    reloadAll()
  }, [failure, reloadAll])
  const close = () => {
    setTask(null)
    clear()
  }
  /** A write that only applies to the displayed version. */
  const writeShown = async (row: StoredListing, send: () => Promise<unknown>, text: string) => {
    judged.current = row
    if (!(await send())) return
    setSeen(null)
    setTask(null)
    announce(text)
    reloadAll()
  }
  const approve = (row: StoredListing) => writeShown(row, () => write('POST', `/listings/${id}/approve`, {}, row.etag), t('approved'))
  const refuse = (row: StoredListing, kind: RefusalKind, text: string) =>
    kind === 'reject'
      ? writeShown(row, () => write('POST', `/listings/${id}/reject`, { reason: text }, row.etag), t('rejectedNow'))
      : writeShown(row, () => write('POST', `/listings/${id}/request-change`, { note: text }, row.etag), t('changeRequestedNow'))
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
                <PermittedButton need="market" onClick={() => setTask({ kind: 'edit', opened: row })}>
                  {t('edit')}
                </PermittedButton>
                {['pending', 'rejected'].includes(row.status) && (
                  <PermittedButton need="market" class="main" disabled={busy} onClick={() => void approve(row)}>
                    {t('approve')}
                  </PermittedButton>
                )}
                {!['rejected', 'sold'].includes(row.status) && (
                  <>
                    <PermittedButton need="market" disabled={busy} onClick={() => setTask({ kind: 'request_change' })}>
                      {t('requestChange')}
                    </PermittedButton>
                    <PermittedButton need="market" class="danger" disabled={busy} onClick={() => setTask({ kind: 'reject' })}>
                      {t('reject')}
                    </PermittedButton>
                  </>
                )}
              </div>
            </div>
            {listing.error && <Failure error={listing.error} retry={reloadAll} />}
            {task === null && <Refusal error={error} />}
            {task === null && meanwhile(row)}
            <ListingComparison listing={row} review={review.data} />
            {task?.kind === 'edit' && (
              <Dialog title={task.opened.title} onClose={close}>
                <Form submit={t('save')} busy={busy} error={error} onSubmit={(values) => void save(row, task.opened, values)} onCancel={close}>
                  {meanwhile(row)}
                  <ListingFields listing={task.opened} />
                </Form>
              </Dialog>
            )}
            {(task?.kind === 'reject' || task?.kind === 'request_change') && (
              <RefusalDialog
                kind={task.kind}
                busy={busy}
                error={error}
                onRefuse={(text) => void refuse(row, task.kind as RefusalKind, text)}
                onClose={close}
              >
                {meanwhile(row)}
              </RefusalDialog>
            )}
          </>
        )}
      </Await>
    </>
  )
}

function GradeOf({ listing, changed }: { listing: StoredListing; changed: boolean }) {
  const grade = <Grade id={listing.grade_id} />
  return changed ? <mark>{grade}</mark> : grade
}

/** Prices further from the reference than this factor are highlighted. */
const LARGE_PRICE_FACTOR = 2

/** The price relative to the first trusted reference, such as `1.5 × PriceCharting`. */
function AgainstReference({ review: { price_ratio: ratio, references } }: { review: ListingReview }) {
  const reference = references.find((one) => one.ratio !== null)
  if (ratio === null || !reference) return <span class="quiet">{t('noReference')}</span>
  const text = t('timesReference', { ratio, source: termText('market', reference.market) })
  return ratio >= LARGE_PRICE_FACTOR || ratio <= 1 / LARGE_PRICE_FACTOR ? <mark>{text}</mark> : <span>{text}</span>
}

/** The prices that a listing is compared with, in their own currency and in lira at the rate of the day. */
function References({ review: { references, label } }: { review: ListingReview }) {
  return (
    <>
      <h4>{t('pricesOfLabel', { label })}</h4>
      {references.length === 0 ? (
        <p class="quiet">{t('noPrices')}</p>
      ) : (
        <ul class="prices">
          {references.map(({ market, state, price, confirmed_at: at, rate, price_try: inLira, ratio }) => (
            <li key={market}>
              <span>
                {termText('market', market)} {state !== 'trusted' && <Status code={state} />}{' '}
                <span class="quiet" title={moment(at)}>
                  {priceText(price, market)}
                  {rate && ` · ${t('rateOn', { rate: rateText(rate.rate), date: calendarDay(rate.day) })}`}
                </span>
              </span>
              <strong>
                {inLira === null ? t('noRate') : lira(inLira)}
                {ratio !== null && ` · ${count(ratio)}×`}
              </strong>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

interface BesideProps {
  listing: StoredListing
  /** null while loading; the parts that need it reserve their space from the start */
  review: ListingReview | null
}

/** A listing next to its card and reference prices, with its changes since the last approval side by side. */
export function ListingComparison({ listing, review }: BesideProps) {
  const changes = listing.changed_since_approval
  const changed = new Set(changes?.map((change) => change.field))
  const mark = (field: string, text: string) => (changed.has(field) ? <mark>{text}</mark> : text)
  const record = review?.seller
  return (
    <div class="beside">
      <div>
        {listing.images.length > 0 && (
          <div class="pictures">
            {listing.images.map(({ url }) => (
              <ListingPicture key={url} url={url} name={t('pictureOf', { title: listing.title })} />
            ))}
          </div>
        )}
        {review && review.linked_pictures.length > 0 && <LinkedPictures of={review.linked_pictures} />}
        <Facts
          brief
          rows={[
            [t('price'), <strong key="price">{mark('price', lira(listing.price))}</strong>],
            [t('againstReference'), review ? <AgainstReference key="ratio" review={review} /> : '…'],
            [t('grade'), <GradeOf key="grade" listing={listing} changed={changed.has('grade_id')} />],
            [t('certificate'), listing.certificate && mark('certificate', certificateText(listing.certificate))],
            [t('spoken'), mark('language', listing.language === null ? t('notStated') : language(listing.language))],
            [t('stock'), mark('quantity', count(listing.quantity))],
            [t('pictures'), count(listing.images.length)],
            [t('seller'), <RecordLink key="seller" of="accounts" id={listing.seller_id} />],
            [t('sellerRecord'), record ? t('recordOf', { ...record, days: record.account_age_days }) : '…'],
            [t('state'), <Status key="state" code={listing.status} />],
            [t('approvedPrice'), listing.approved_price === null ? null : lira(listing.approved_price)],
            [t('shippingPayer'), mark('shipping_payer', termText('payer', listing.shipping_payer))],
            [t('offers'), mark('offers_enabled', listing.offers_enabled ? t('yes') : t('no'))],
            [t('lowestOffer'), listing.min_offer_price === null ? null : mark('min_offer_price', lira(listing.min_offer_price))],
            [t('waitingSince'), listing.waiting_since && moment(listing.waiting_since)],
            [t('expires'), listing.expires_at && moment(listing.expires_at)],
            [t('highlightedUntil'), listing.highlighted_until && moment(listing.highlighted_until)],
            [t('rejectionReason'), listing.rejection_reason],
            [t('id'), String(listing.id)],
          ]}
        />
        {review?.certificate && <CertificateFacts of={review.certificate} />}
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
      {review && (
        <div class="card-beside">
          {review.item.images.length > 0 && <Picture item={review.item} />}
          <div>
            <h3>
              <a href={`/console/catalogue/items/${review.item.id}`}>{review.item.name}</a> <span class="quiet">{review.item.code}</span>
            </h3>
            <p class="quiet">{[review.item.category, review.item.finish].filter(Boolean).join(' · ')}</p>
            <References review={review} />
          </div>
        </div>
      )}
    </div>
  )
}

/** Where copied pictures come from, and why others were not copied. */
function LinkedPictures({ of: pictures }: { of: ListingReview['linked_pictures'] }) {
  return (
    <ul class="quiet linked">
      {pictures.map(({ url, copied_from: source, problem }) => (
        <li key={url}>{problem === null ? t('copiedFrom', { url: source! }) : t('notCopied', { url, problem: termText('copyProblem', problem) })}</li>
      ))}
    </ul>
  )
}
