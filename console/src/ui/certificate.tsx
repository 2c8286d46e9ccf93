// What is known of the certificate of a listing, for a decision about it.
import type { CertificateEvent, ListingReview, StoredListing } from '../api-types.ts'
import { Status } from '#ui/states.tsx'
import { lira, moment, sentence, t } from '../words.ts'

/** A certificate on one line. */
export function certificateText({ grader, grade, qualifier, cert }: NonNullable<StoredListing['certificate']>): string {
  return [grader, grade, qualifier, cert].filter(Boolean).join(' ')
}

/** The listing that offers the same copy now, what the file of certificates says, and who offered and sold the copy before. */
export function CertificateFacts({ of: { conflict, known, differs, warnings, history } }: { of: NonNullable<ListingReview['certificate']> }) {
  return (
    <section class="certificate">
      <h3>{t('certificate')}</h3>
      {conflict && (
        <p class="refusal">
          {t('certificateOnSale', { seller: conflict.seller.name, price: lira(conflict.price) })}{' '}
          <a href={`/console/listings/${conflict.listing_id}`}>{conflict.title}</a>
        </p>
      )}
      {known && differs.length > 0 && (
        <p class="refusal">
          {t('certificateDiffers', { grade: [known.grade, known.qualifier].filter(Boolean).join(' ') })}{' '}
          <a href={`/console/catalogue/items/${known.item_id}`}>{t('item')}</a>
        </p>
      )}
      {warnings.map((warning) => (
        <p class="quiet" key={warning.rule}>
          {sentence(warning)}
        </p>
      ))}
      <CertificateHistory of={history} />
    </section>
  )
}

/** The listings and sales of a copy, newest first. */
export function CertificateHistory({ of: history }: { of: CertificateEvent[] }) {
  return (
    history.length > 0 && (
      <ul class="quiet">
        {history.map(({ kind, listing_id: id, seller, price, at, status, cancelled_at: cancelled }) => (
          <li key={`${kind} ${id} ${at}`}>
            {moment(at)} · {t(kind === 'sale' ? (cancelled ? 'saleCancelled' : 'certificateSale') : 'certificateListing')} · {seller.name} ·{' '}
            {id === null ? lira(price) : <a href={`/console/listings/${id}`}>{lira(price)}</a>}
            {status && <Status code={status} />}
          </li>
        ))}
      </ul>
    )
  )
}
