// One own listing: its content, whether a search finds it or why not, and the form that changes it.
import { useRoute } from 'preact-iso'
import { Bars } from '#ui/bars.tsx'
import { Heading } from '#ui/heading.tsx'
import { PriceChart, useChartChoice } from '#ui/price-chart.tsx'
import { Await, Empty, Facts, Status } from '#ui/states.tsx'
import type { ListingVisibility, OwnListing } from '../../../client/src/api.ts'
import { mayWrite, useData } from '../api.ts'
import { EditForm } from '../listing/edit-form.tsx'
import { count, language, lira, moment, t, termText } from '../words.ts'

export function ListingPage() {
  const id = Number(useRoute().params.id)
  const listing = useData(`/plus/listings/${id}`, { query: { with_details: 1 } })
  return (
    <>
      <p class="trail">
        <a href="/desk">{t('listings')}</a>
      </p>
      <Await of={listing} title={t('listing')}>
        {(row) =>
          // A published listing of another seller has no status.
          'status' in row ? <Own of={row} onChanged={listing.reload} /> : <OtherSellersListing title={row.title} />
        }
      </Await>
    </>
  )
}

function OtherSellersListing({ title }: { title: string }) {
  return (
    <>
      <Heading>{title}</Heading>
      <Empty>{t('notYours')}</Empty>
    </>
  )
}

function Own({ of: listing, onChanged }: { of: OwnListing; onChanged: () => void }) {
  // Each version of the listing has its own answer.
  const visibility = useData(`/plus/listings/${listing.id}/visibility`, { version: listing.etag })
  const isEditable = listing.status !== 'sold' && mayWrite()
  const time = (at: string | null) => at && moment(at)
  return (
    <>
      <Heading>{listing.title}</Heading>
      {listing.rejection_reason && visibility.data && (
        <OperatorNote
          reason={listing.rejection_reason}
          isRequest={visibility.data.reasons.some(({ change_requested: requested }) => requested)}
          isEditable={isEditable}
        />
      )}
      <Facts
        brief
        rows={[
          [t('state'), <Status key="state" code={listing.status} />],
          [t('price'), lira(listing.price)],
          [t('approvedPrice'), listing.approved_price === null ? null : lira(listing.approved_price)],
          [t('stock'), count(listing.quantity)],
          ['SKU', listing.sku],
          [t('grade'), listing.grade?.label],
          [t('spoken'), listing.language === null ? null : language(listing.language)],
          [t('shippingPayer'), termText('payer', listing.shipping_payer)],
          [t('since'), time(listing.published_at)],
          [t('expires'), time(listing.expires_at)],
          [t('highlightedUntil'), time(listing.highlighted_until)],
        ]}
      />
      <section>
        <h2>{t('visibleToBuyers')}</h2>
        <Await of={visibility}>{(row) => <Visibility of={row} />}</Await>
      </section>
      {isEditable ? (
        <section>
          <h2>{t('editListing')}</h2>
          <EditForm key={listing.etag} of={listing} onSaved={onChanged} />
        </section>
      ) : (
        listing.description && <p class="prose">{listing.description}</p>
      )}
      <Views id={listing.id} />
      <PriceHistory itemId={listing.item_id} />
    </>
  )
}

/** Why the operator rejected the listing, or the change that the operator asks for. */
function OperatorNote({ reason, isRequest, isEditable }: { reason: string; isRequest: boolean; isEditable: boolean }) {
  const title = t(isRequest ? 'requestedChange' : 'rejectedTitle')
  return (
    <section class="panel note" aria-label={title}>
      <h2>{title}</h2>
      <p class="prose">{reason}</p>
      {isEditable && <p class="quiet">{t('requestedChangeText')}</p>}
    </section>
  )
}

/** How often searches returned the listing to other accounts. */
function Views({ id }: { id: number }) {
  const views = useData(`/plus/listings/${id}/views`)
  return (
    <section aria-labelledby="views">
      <h2 id="views">{t('searchViews')}</h2>
      <Await of={views}>
        {({ views_7_days: recent, days }) => (
          <>
            <p class="quiet">{t('searchViewsText', { count: recent })}</p>
            <Bars title={t('searchViews')} days={days.map(({ day, views: value }) => ({ day, value }))} show={count} />
          </>
        )}
      </Await>
    </section>
  )
}

function PriceHistory({ itemId }: { itemId: number }) {
  const choice = useChartChoice()
  const chart = useData(`/items/${itemId}/price-chart`, { query: choice.query })
  return (
    <section aria-labelledby="history">
      <h2 id="history">{t('priceHistory')}</h2>
      <PriceChart of={chart} choice={choice} />
    </section>
  )
}

function Visibility({ of: { visible, reasons } }: { of: ListingVisibility }) {
  if (visible) return <Status code="visible" />
  return (
    <ul class="why">
      {reasons.map(({ code, since, what_to_do: whatToDo, rejection_reason: rejection }) => (
        <li key={code}>
          <Status code={code} tone="wait" /> {adviceOf(code, whatToDo)} {rejection && <q>{rejection}</q>}{' '}
          {since && <span class="quiet">{t('hiddenSince', { at: moment(since) })}</span>}
        </li>
      ))}
    </ul>
  )
}

/** What to do, in the reader's language; the service's English text if the code is unknown here. */
function adviceOf(code: string, whatToDo: string): string {
  const translated = termText('advice', code)
  return translated === code ? whatToDo : translated
}
