// Orders of the shop's checkout, and a form to record one manually.
import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { Dialog, Field, Form, type Values } from '#ui/dialog.tsx'
import { Heading } from '#ui/heading.tsx'
import { Picker } from '#ui/picker.tsx'
import { Status } from '#ui/states.tsx'
import { periodFilters, periodQuery } from '#ui/table.tsx'
import { announce } from '#ui/toasts.tsx'
import { List, useWrite } from '../api.ts'
import type { StoredOrder } from '../api-types.ts'
import { RecordLink } from '../ui/record-link.tsx'
import { accounts, items, listings } from '../ui/sources.ts'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { count, lira, moment, t } from '../words.ts'
import { MarketTabs } from './listings.tsx'

export function OrdersPage() {
  const [recording, setRecording] = useState(false)
  return (
    <>
      <Heading>{t('market')}</Heading>
      <MarketTabs current="orders" />
      <List
        path="/orders"
        caption={t('orders')}
        empty={t('noOrders')}
        filters={[
          { name: 'seller_id', label: t('seller'), picker: accounts },
          { name: 'item_id', label: t('item'), picker: items },
          { name: 'listing_id', label: t('listing'), picker: listings },
          { name: 'buyer_reference', label: t('buyerReference') },
          ...periodFilters(),
        ]}
        toQuery={periodQuery}
        actions={
          <PermittedButton need="market" class="main" onClick={() => setRecording(true)}>
            {t('recordOrder')}
          </PermittedButton>
        }
        rowKey={(order) => order.order_id}
        columns={[
          { head: t('order'), width: '10.5%', sort: 'order_id', cell: (order) => <a href={`/console/orders/${order.order_id}`}>{order.order_id}</a> },
          { head: t('when'), width: '11.5%', sort: 'sold_at', cell: (order) => moment(order.sold_at) },
          { head: t('listing'), width: '20%', cell: (order) => <Sold order={order} /> },
          { head: t('seller'), width: '11%', cell: ({ lines }) => <Sellers ids={lines.map((line) => line.seller_id)} /> },
          { head: t('buyerReference'), width: '9%', wide: true, cell: (order) => order.buyer_reference ?? '–' },
          { head: t('units'), width: '5%', number: true, wide: true, cell: (order) => count(sumOf(order, (line) => line.quantity)) },
          { head: t('total'), width: '12%', number: true, cell: (order) => lira(sumOf(order, (line) => line.quantity * line.unit_price)) },
          { head: t('commission'), width: '10%', number: true, cell: (order) => lira(sumOf(order, (line) => line.commission)) },
          { head: t('payout'), width: '11%', number: true, cell: (order) => lira(sumOf(order, (line) => line.seller_payout)) },
        ]}
      />
      {recording && <RecordOrder onClose={() => setRecording(false)} />}
    </>
  )
}

/** The seller of the first line, and the number of others. */
function Sellers({ ids }: { ids: number[] }) {
  const others = new Set(ids).size - 1
  return (
    <>
      <RecordLink of="accounts" id={ids[0]!} /> {others > 0 && <span class="quiet">{t('andMore', { count: others })}</span>}
    </>
  )
}

/** The first listing of an order, and the number of others. */
function Sold({ order: { lines } }: { order: StoredOrder }) {
  return (
    <>
      <RecordLink of="listings" id={lines[0]!.listing_id} />{' '}
      {lines.length > 1 && <span class="quiet">{t('andMore', { count: lines.length - 1 })}</span>}
      {lines.every((line) => line.cancellation) && <Status code="cancelled" />}
    </>
  )
}

export function sumOf(order: StoredOrder, of: (line: StoredOrder['lines'][number]) => number): number {
  return order.lines.reduce((sum, line) => sum + of(line), 0)
}

function RecordOrder({ onClose }: { onClose: () => void }) {
  const { busy, error, write } = useWrite()
  const { route } = useLocation()
  const [lines, setLines] = useState([0])
  const submit = async (values: Values) => {
    const soldAt = values.sold_at
    const recorded = await write('POST', '/orders', {
      order_id: Number(values.order_id),
      ...(soldAt && { sold_at: new Date(soldAt).toISOString() }),
      ...(values.buyer_reference && { buyer_reference: values.buyer_reference }),
      lines: lines.map((line) => {
        const unitPrice = values[`price${line}`]
        return {
          listing_id: Number(values[`listing${line}`]),
          quantity: Number(values[`quantity${line}`]),
          ...(unitPrice && { unit_price: Number(unitPrice) }),
        }
      }),
    })
    if (!recorded) return
    announce(t('orderRecorded'))
    route(`/console/orders/${recorded.data.order_id}`)
  }
  return (
    <Dialog title={t('recordOrder')} onClose={onClose}>
      <Form submit={t('record')} busy={busy} error={error} onSubmit={(values) => void submit(values)} onCancel={onClose}>
        <div class="pair">
          <Field label={t('orderId')} hint={t('orderIdHint')}>
            <input name="order_id" type="number" min={1} required />
          </Field>
          <Field label={t('soldAt')} hint={t('soldAtHint')}>
            <input name="sold_at" type="datetime-local" />
          </Field>
        </div>
        <Field label={t('buyerReference')} hint={t('buyerReferenceHint')}>
          <input name="buyer_reference" maxLength={100} />
        </Field>
        {lines.map((line, index) => (
          <fieldset key={line}>
            <legend>{t('lineNumber', { number: index + 1 })}</legend>
            <div class="triple">
              <Picker label={t('listing')} name={`listing${line}`} source={listings} required />
              <Field label={t('quantity')}>
                <input name={`quantity${line}`} type="number" min={1} defaultValue={1} required />
              </Field>
              <Field label={t('unitPrice')} hint={t('unitPriceHint')}>
                <input name={`price${line}`} type="number" min="0.01" step="0.01" />
              </Field>
            </div>
            {lines.length > 1 && (
              <button type="button" onClick={() => setLines(lines.filter((one) => one !== line))}>
                {t('removeLine')}
              </button>
            )}
          </fieldset>
        ))}
        <button type="button" onClick={() => setLines([...lines, Math.max(...lines) + 1])}>
          {t('addLine')}
        </button>
      </Form>
    </Dialog>
  )
}
