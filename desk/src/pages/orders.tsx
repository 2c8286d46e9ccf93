// The seller's sales, one row per order line; cancelled ones show the refund.
import { Tabs } from '#ui/frame.tsx'
import { Heading } from '#ui/heading.tsx'
import { Status } from '#ui/states.tsx'
import { periodFilters, periodQuery } from '#ui/table.tsx'
import type { OwnSale } from '../../../client/src/api.ts'
import { List } from '../api.ts'
import { count, lira, moment, t } from '../words.ts'

export function SalesTabs({ current }: { current: 'orders' | 'statement' | 'offers' }) {
  return (
    <Tabs
      tabs={[
        { href: '/desk/orders', text: t('orders'), current: current === 'orders' },
        { href: '/desk/statement', text: t('statement'), current: current === 'statement' },
        { href: '/desk/offers', text: t('offers'), current: current === 'offers' },
      ]}
    />
  )
}

export function OrdersPage() {
  return (
    <>
      <Heading>{t('sales')}</Heading>
      <SalesTabs current="orders" />
      <List
        path="/plus/orders"
        caption={t('orders')}
        empty={t('noOwnSales')}
        filters={[{ name: 'order_id', label: t('orderNumber'), type: 'number' }, ...periodFilters()]}
        toQuery={periodQuery}
        rowKey={(sale) => `${sale.order_id} ${sale.line}`}
        columns={[
          { head: t('item'), cell: (sale) => <Sold of={sale} /> },
          { head: t('orderNumber'), cell: (sale) => `${sale.order_id}/${sale.line}` },
          { head: t('when'), short: true, cell: (sale) => moment(sale.sold_at) },
          { head: t('quantity'), number: true, cell: (sale) => count(sale.quantity) },
          { head: t('unitPrice'), number: true, cell: (sale) => lira(sale.unit_price) },
          { head: t('commission'), number: true, cell: (sale) => lira(sale.commission) },
          { head: t('payout'), number: true, cell: (sale) => lira(sale.payout) },
          { head: t('state'), cell: (sale) => <Cancelled of={sale} /> },
        ]}
      />
    </>
  )
}

export function Sold({ of: { item, label } }: { of: Pick<OwnSale, 'item' | 'label'> }) {
  return (
    <>
      {item.name} <span class="quiet">{label}</span>
    </>
  )
}

export function Cancelled({ of: { cancelled_at: at, refunded } }: { of: OwnSale }) {
  if (at === null) return <Status code="sold" tone="good" />
  return (
    <>
      <Status code="cancelled" /> <span class="quiet">{t('refundedAt', { amount: lira(refunded), at: moment(at) })}</span>
    </>
  )
}
