// One order with its lines.
import { useRoute } from 'preact-iso'
import { useData } from '../data.ts'
import { Heading } from '../ui/heading.tsx'
import { Named } from '../ui/named.tsx'
import { Await, Facts, Status } from '../ui/states.tsx'
import { Table } from '../ui/table.tsx'
import { count, moment, t } from '../words.ts'
import { sumOf } from './orders.tsx'
import { lira } from './prices.ts'

export function OrderPage() {
  const id = Number(useRoute().params.id)
  const order = useData(`/orders/${id}`)
  return (
    <>
      <p class="trail">
        <a href="/console/orders">{t('orders')}</a>
      </p>
      <Heading>
        {t('order')} {id}
      </Heading>
      <Await of={order}>
        {(row) => (
          <>
            <Facts
              rows={[
                [t('soldAt'), moment(row.sold_at)],
                [t('total'), lira(sumOf(row, (line) => line.quantity * line.unit_price))],
                [t('payout'), lira(sumOf(row, (line) => line.seller_payout))],
              ]}
            />
            <Table
              caption={t('lines')}
              rows={row.lines.map((line, index) => ({ ...line, index }))}
              rowKey={(line) => line.index}
              columns={[
                {
                  head: t('listing'),
                  cell: (line) => <Named of="listings" id={line.listing_id} />,
                },
                { head: t('quantity'), number: true, cell: (line) => count(line.quantity) },
                { head: t('unitPrice'), number: true, cell: (line) => lira(line.unit_price) },
                { head: t('payout'), number: true, cell: (line) => lira(line.seller_payout) },
                { head: t('state'), cell: (line) => <Status code={line.listing_status} /> },
              ]}
            />
          </>
        )}
      </Await>
    </>
  )
}
