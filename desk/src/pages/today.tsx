// The start page: what there is to do, today's sales, and the worth of the stock.
import type { ComponentChildren } from 'preact'
import type { Loaded } from '#ui/data.ts'
import { Heading } from '#ui/heading.tsx'
import { Await, Empty, Failure, Loading } from '#ui/states.tsx'
import { Table } from '#ui/table.tsx'
import { Tile } from '#ui/tile.tsx'
import { localOf, startOfDay } from '#ui/time-zone.ts'
import type { OwnListing, OwnSale, Statement } from '../../../client/src/api.ts'
import { useData } from '../api.ts'
import { type StockWorth, useStockWorth } from '../stock-worth.ts'
import { ROWS_PER_PAGE, type ToDo, useToDo } from '../to-do.ts'
import { count, lira, moment, t, wholeMonth } from '../words.ts'
import { Cancelled, Sold } from './orders.tsx'

const LAST_SALES = 5

export function TodayPage() {
  const day = localOf(new Date().toISOString()).slice(0, 10)
  const stock = useData('/plus/my-listings', { query: { status: 'active', sort_by: 'quantity_low', per_page: ROWS_PER_PAGE } })
  const toDo = useToDo(stock)
  const worth = useStockWorth(stock)
  const sold = useData('/plus/orders', { query: { from: startOfDay(day, 0).toISOString(), per_page: ROWS_PER_PAGE } })
  const latest = useData('/plus/orders', { query: { per_page: LAST_SALES } })
  const month = useData('/plus/statement', { query: { per_page: 1 } })
  // All sections appear at once, because one that came later would move those below it.
  const isLoading = [...toDo.loads, sold, latest, month].some(({ data, loading }) => data === null && loading)
  return (
    <>
      <Heading>{t('today')}</Heading>
      {isLoading ? (
        <Loading />
      ) : (
        <>
          <Tasks of={toDo} />
          <Sales day={day} sold={sold} latest={latest} month={month} />
          <Worth of={worth} stock={stock} />
        </>
      )}
    </>
  )
}

function Section({ id, title, children }: { id: string; title: string; children: ComponentChildren }) {
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  )
}

/** The first failure of several requests; a retry repeats all that failed. */
function Failed({ of: loads }: { of: Loaded<unknown>[] }) {
  const failed = loads.filter(({ error }) => error !== null)
  if (failed.length === 0) return null
  const retry = () => {
    for (const { reload } of failed) reload()
  }
  return <Failure error={failed[0]!.error!} retry={retry} />
}

function Tasks({ of: { loads, tasks } }: { of: ToDo }) {
  const isComplete = loads.every(({ error }) => error === null)
  return (
    <Section id="to-do" title={t('toDo')}>
      <Failed of={loads} />
      {tasks.length > 0 && (
        <div class="tiles">
          {tasks.map(({ href, label, figure, note }) => (
            <Tile key={label} href={href} label={label} value={figure} waits>
              {note}
            </Tile>
          ))}
        </div>
      )}
      {tasks.length === 0 && isComplete && <p class="quiet">{t('nothingToDo')}</p>}
    </Section>
  )
}

interface SalesProps {
  /** such as `2026-11-22` */
  day: string
  /** lines sold on this day, newest first */
  sold: Loaded<OwnSale[]>
  latest: Loaded<OwnSale[]>
  month: Loaded<Statement>
}

function Sales({ day, sold, latest, month }: SalesProps) {
  return (
    <Section id="sales" title={t('salesToday')}>
      <Failed of={[sold, month]} />
      <div class="tiles">
        {sold.data && <SoldTiles lines={sold.data} total={sold.pagination?.total ?? 0} href={`/desk/orders?from=${day}`} />}
        {month.data && (
          <Tile href="/desk/statement" label={`${t('payout')}, ${wholeMonth(month.data.month)}`} value={lira(month.data.payout)} waits={false}>
            {t('sales')}: {lira(month.data.sales)}, {t('refunds')}: {lira(month.data.refunds)}
          </Tile>
        )}
      </div>
      <h3>
        <a href="/desk/orders">{t('lastSales')}</a>
      </h3>
      <Await of={latest}>{(sales) => (sales.length === 0 ? <Empty>{t('noOwnSales')}</Empty> : <LastSales of={sales} />)}</Await>
    </Section>
  )
}

/** @param total number of the day's lines; only the latest have loaded */
function SoldTiles({ lines, total, href }: { lines: OwnSale[]; total: number; href: string }) {
  const valid = lines.filter(({ cancelled_at: cancelledAt }) => cancelledAt === null)
  const kurus = valid.reduce((sum, { unit_price: price, quantity }) => sum + Math.round(price * 100) * quantity, 0)
  const note = total > lines.length ? t('latestLinesOnly', { count: lines.length, total }) : t('withoutCancelled')
  return (
    <>
      <Tile href={href} label={t('orders')} value={new Set(valid.map(({ order_id: id }) => id)).size} waits={false}>
        {note}
      </Tile>
      <Tile href={href} label={t('sales')} value={lira(kurus / 100)} waits={false}>
        {note}
      </Tile>
    </>
  )
}

function LastSales({ of: sales }: { of: OwnSale[] }) {
  return (
    <Table
      caption={t('lastSales')}
      rows={sales}
      rowKey={(sale) => `${sale.order_id} ${sale.line}`}
      columns={[
        { head: t('item'), cell: (sale) => <Sold of={sale} /> },
        { head: t('orderNumber'), cell: (sale) => <a href={`/desk/orders?order_id=${sale.order_id}`}>{`${sale.order_id}/${sale.line}`}</a> },
        { head: t('when'), short: true, cell: (sale) => moment(sale.sold_at) },
        { head: t('quantity'), number: true, cell: (sale) => count(sale.quantity) },
        { head: t('unitPrice'), number: true, cell: (sale) => lira(sale.unit_price) },
        { head: t('state'), cell: (sale) => <Cancelled of={sale} /> },
      ]}
    />
  )
}

function Worth({ of: { amount, included, total, loads }, stock }: { of: StockWorth; stock: Loaded<OwnListing[]> }) {
  const note = included < total ? t('worthOfSome', { count: included, total }) : t('worthOf', { count: total })
  return (
    <Section id="worth" title={t('stockWorth')}>
      <Failed of={[stock, ...loads]} />
      {stock.data && (
        <p class="figure">
          <strong>{amount === null ? '…' : lira(amount)}</strong> <span class="quiet">{amount !== null && note}</span>
        </p>
      )}
    </Section>
  )
}
