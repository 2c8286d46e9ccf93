// Offers of buyers for the seller's listings: accepted, declined, or answered with a counter-offer.
import { useState } from 'preact/hooks'
import { useVersion } from '#ui/data.ts'
import { confirm, Dialog, Field, Form } from '#ui/dialog.tsx'
import { Heading } from '#ui/heading.tsx'
import { Refusal, Status } from '#ui/states.tsx'
import { announce } from '#ui/toasts.tsx'
import type { Offer } from '../../../client/src/api.ts'
import { List, mayWrite, useWrite } from '../api.ts'
import { count, lira, moment, share, t, termText } from '../words.ts'
import { SalesTabs } from './orders.tsx'

const STATUSES: Offer['status'][] = ['open', 'countered', 'accepted', 'declined', 'withdrawn', 'expired']

/** Statuses of offers that wait for an answer. */
const WAITING: Offer['status'][] = ['open', 'countered']

export function OffersPage() {
  const [version, changed] = useVersion()
  const { busy, error, write } = useWrite()
  const [countering, setCountering] = useState<Offer | null>(null)
  const accept = async (offer: Offer) => {
    const amounts = { count: offer.quantity, price: lira(offer.unit_price), payout: lira(offer.payout) }
    const question = { title: t('acceptOfferTitle', { title: offer.title }), text: t('acceptOfferText', amounts), action: t('accept'), danger: false }
    if (!(await confirm(question))) return
    if (await write('POST', `/plus/offers/${offer.id}/accept`)) announce(t('offerAccepted'))
    changed()
  }
  const decline = async (offer: Offer) => {
    if (await write('POST', `/plus/offers/${offer.id}/decline`)) announce(t('offerDeclined'))
    changed()
  }
  return (
    <>
      <Heading>{t('sales')}</Heading>
      <SalesTabs current="offers" />
      <p class="quiet lead">{t('offersText')}</p>
      <Refusal error={error} />
      <List
        path="/plus/offers"
        caption={t('offers')}
        empty={t('noOffers')}
        version={version}
        filters={[{ name: 'status', label: t('state'), options: STATUSES.map((code) => ({ value: code, text: termText('status', code) })) }]}
        rowKey={(offer) => offer.id}
        columns={[
          { head: t('title'), cell: (offer) => <Listing of={offer} /> },
          { head: t('state'), cell: (offer) => <State of={offer} /> },
          { head: t('offer'), number: true, cell: (offer) => <Amounts of={offer} /> },
          { head: t('quantity'), number: true, cell: (offer) => count(offer.quantity) },
          { head: t('payout'), number: true, cell: (offer) => lira(offer.payout) },
          {
            head: t('actions'),
            cell: (offer) =>
              mayWrite() && offer.status === 'open' && <Answers of={offer} busy={busy} accept={accept} decline={decline} counter={setCountering} />,
          },
        ]}
      />
      {countering && (
        <CounterOffer
          of={countering}
          onClose={(done) => {
            setCountering(null)
            if (done) changed()
          }}
        />
      )}
    </>
  )
}

function State({ of: { status, expires_at: end } }: { of: Offer }) {
  return (
    <>
      <Status code={status} />
      {WAITING.includes(status) && <p class="quiet">{t('untilTime', { at: moment(end) })}</p>}
    </>
  )
}

function Amounts({ of: { unit_price: offered, counter_price: countered, listing_price: listed } }: { of: Offer }) {
  return (
    <>
      {lira(offered)} <span class="quiet">{share(offered / listed - 1)}</span>
      {countered !== null && (
        <p class="quiet">
          {t('counterOffer')}: {lira(countered)}
        </p>
      )}
    </>
  )
}

function Listing({ of: { listing_id: id, title, order_id: order } }: { of: Offer }) {
  return (
    <>
      {id === null ? title : <a href={`/desk/listings/${id}`}>{title}</a>}
      {order !== null && (
        <p class="quiet">
          <a href={`/desk/orders?order_id=${order}`}>{t('orderOf', { id: String(order) })}</a>
        </p>
      )}
    </>
  )
}

interface AnswersProps {
  of: Offer
  busy: boolean
  accept: (offer: Offer) => Promise<void>
  decline: (offer: Offer) => Promise<void>
  counter: (offer: Offer) => void
}

function Answers({ of: offer, busy, accept, decline, counter }: AnswersProps) {
  const button = (text: string, onClick: () => unknown) => (
    <button type="button" disabled={busy} aria-label={`${text}: ${offer.title}`} onClick={() => void onClick()}>
      {text}
    </button>
  )
  return (
    <span class="buttons tight">
      {button(t('accept'), () => accept(offer))}
      {button(t('counter'), () => counter(offer))}
      {button(t('decline'), () => decline(offer))}
    </span>
  )
}

function CounterOffer({ of: offer, onClose }: { of: Offer; onClose: (done: boolean) => void }) {
  const { busy, error, write } = useWrite()
  const send = async (price: number) => {
    if (!(await write('POST', `/plus/offers/${offer.id}/counter`, { price }))) return
    announce(t('counterOfferMade'))
    onClose(true)
  }
  return (
    <Dialog title={t('counterOfferTitle', { title: offer.title })} onClose={() => onClose(false)}>
      <Form submit={t('counter')} busy={busy} error={error} onSubmit={({ price }) => void send(Number(price))} onCancel={() => onClose(false)}>
        <p>{t('counterOfferText', { price: lira(offer.unit_price) })}</p>
        <Field label={t('unitPrice')}>
          <input name="price" type="number" step="0.01" min={offer.unit_price} inputMode="decimal" required />
        </Field>
      </Form>
    </Dialog>
  )
}
