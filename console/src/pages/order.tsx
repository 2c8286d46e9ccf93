// One order with its lines, each of which can be cancelled once.
import { useState } from 'preact/hooks'
import { useRoute } from 'preact-iso'
import { Dialog, Field, Form, type Values } from '#ui/dialog.tsx'
import { Heading } from '#ui/heading.tsx'
import { PrintButton } from '#ui/print-button.tsx'
import { Await, Facts, Status } from '#ui/states.tsx'
import { Table } from '#ui/table.tsx'
import { announce } from '#ui/toasts.tsx'
import type { StoredOrder } from '../api-types.ts'
import { useData, useWrite } from '../api.ts'
import { RecordLink } from '../ui/record-link.tsx'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { count, lira, moment, t } from '../words.ts'
import { sumOf } from './orders.tsx'

type Line = StoredOrder['lines'][number]

export function OrderPage() {
  const id = Number(useRoute().params.id)
  const order = useData(`/orders/${id}`)
  /** the lines to cancel; null while the dialog is closed */
  const [chosen, setChosen] = useState<Line[] | null>(null)
  return (
    <>
      <p class="trail">
        <a href="/console/orders">{t('orders')}</a>
      </p>
      <Await of={order} title={`${t('order')} ${id}`}>
        {(row) => {
          const open = row.lines.filter((line) => line.cancellation === null)
          const refunded = sumOf(row, (line) => line.cancellation?.refunded ?? 0)
          return (
            <>
              <div class="head">
                <Heading>
                  {t('order')} {id}
                </Heading>
                <div class="actions">
                  <PrintButton />
                  {open.length > 0 && (
                    <PermittedButton need="refunds" class="danger" onClick={() => setChosen(open)}>
                      {t('cancelOrder')}
                    </PermittedButton>
                  )}
                </div>
              </div>
              <Facts
                rows={[
                  [t('soldAt'), moment(row.sold_at)],
                  [t('buyerReference'), row.buyer_reference && <Buyer key="buyer" reference={row.buyer_reference} />],
                  [t('total'), lira(sumOf(row, (line) => line.quantity * line.unit_price))],
                  [t('commission'), lira(sumOf(row, (line) => line.commission))],
                  [t('payout'), lira(sumOf(row, (line) => line.seller_payout))],
                  ...(refunded > 0 ? [[t('refunded'), lira(refunded)] as [string, string]] : []),
                ]}
              />
              <Table
                caption={t('lines')}
                rows={row.lines}
                rowKey={({ line }) => line}
                columns={[
                  { head: t('listing'), cell: (line) => <RecordLink of="listings" id={line.listing_id} /> },
                  { head: t('seller'), cell: (line) => <RecordLink of="accounts" id={line.seller_id} /> },
                  { head: t('quantity'), number: true, cell: (line) => count(line.quantity) },
                  { head: t('unitPrice'), number: true, cell: (line) => lira(line.unit_price) },
                  { head: t('commission'), number: true, cell: (line) => lira(line.commission) },
                  { head: t('payout'), number: true, cell: (line) => lira(line.seller_payout) },
                  { head: t('state'), cell: (line) => <LineState line={line} onCancel={row.lines.length > 1 ? () => setChosen([line]) : null} /> },
                ]}
              />
              {chosen && <CancelLines order={row} lines={chosen} onClose={() => setChosen(null)} onCancelled={order.reload} />}
            </>
          )
        }}
      </Await>
    </>
  )
}

/** Link to all orders of the buyer. */
function Buyer({ reference }: { reference: string }) {
  return <a href={`/console/orders?${new URLSearchParams({ buyer_reference: reference })}`}>{reference}</a>
}

function LineState({ line: { line, listing_status: status, cancellation }, onCancel }: { line: Line; onCancel: (() => void) | null }) {
  if (!cancellation) {
    return (
      <>
        <Status code={status} />{' '}
        {onCancel && (
          <PermittedButton need="refunds" class="plain" onClick={onCancel}>
            {t('cancelLine', { number: line })}
          </PermittedButton>
        )}
      </>
    )
  }
  return (
    <>
      <Status code="cancelled" /> {moment(cancellation.cancelled_at)}
      <div>{cancellation.reason}</div>
      <div class="quiet">{t('cancelledBy', { by: cancellation.cancelled_by })}</div>
    </>
  )
}

interface CancelProps {
  order: StoredOrder
  lines: Line[]
  onClose: () => void
  onCancelled: () => void
}

function CancelLines({ order, lines, onClose, onCancelled }: CancelProps) {
  const { busy, error, write } = useWrite()
  const id = order.order_id
  const amount = lira(lines.reduce((sum, line) => sum + line.quantity * line.unit_price, 0))
  const whole = lines.length > 1 || order.lines.length === 1
  const submit = async ({ reason }: Values) => {
    if (!(await write('POST', `/orders/${id}/cancel`, { lines: lines.map(({ line }) => line), reason: reason! }))) return
    announce(t('cancelledNow', { amount }))
    onClose()
    onCancelled()
  }
  return (
    <Dialog
      title={whole ? t('cancelOrderTitle', { order: String(id) }) : t('cancelLineTitle', { order: String(id), number: lines[0]!.line })}
      onClose={onClose}
    >
      <Form submit={t('cancelAction')} danger busy={busy} error={error} onSubmit={(values) => void submit(values)} onCancel={onClose}>
        <p>{t('cancelText', { amount })}</p>
        <Field label={t('reason')} hint={t('cancelReasonHint')}>
          <input name="reason" maxLength={200} required />
        </Field>
      </Form>
    </Dialog>
  )
}
