// The seller's monthly statement: sales, refunds, commission and payout, line by line and as a file.
import { useState } from 'preact/hooks'
import { saveFile } from '#ui/data.ts'
import { Heading } from '#ui/heading.tsx'
import { PrintButton } from '#ui/print-button.tsx'
import { Await, Empty, Facts } from '#ui/states.tsx'
import { Pages, Table, useFilters } from '#ui/table.tsx'
import type { Statement } from '../../../client/src/api.ts'
import { useData } from '../api.ts'
import { count, lira, moment, t, termText, wholeMonth } from '../words.ts'
import { SalesTabs, Sold } from './orders.tsx'

const PER_PAGE = 50

export function StatementPage() {
  const { values, page, bar, link } = useFilters([{ name: 'month', label: t('month'), type: 'month' }])
  const month = values.month || undefined
  const [all, showAll] = useState(false)
  const statement = useData('/plus/statement', { query: { month, ...(!all && { page, per_page: PER_PAGE }) } })
  const save = (of: string) => saveFile(`/plus/statement?month=${of}`, `statement-${of}.csv`, { accept: 'text/csv' })
  return (
    <>
      <Heading>{t('sales')}</Heading>
      <SalesTabs current="statement" />
      <div class="toolbar">
        {bar}
        {statement.data && (
          <div class="actions">
            <PrintButton showAll={showAll} isComplete={!statement.loading && (statement.pagination?.per_page ?? 0) > PER_PAGE} />
            <button type="button" onClick={() => void save(statement.data!.month)}>
              {t('downloadCsv')}
            </button>
          </div>
        )}
      </div>
      <Await of={statement}>{(row) => <Lines of={row} />}</Await>
      {statement.pagination && <Pages of={statement.pagination} link={link} />}
    </>
  )
}

function Lines({ of: { month, sales, refunds, commission, payout, lines } }: { of: Statement }) {
  return (
    <>
      <h2 class="printed">
        {t('statement')} {wholeMonth(month)}
      </h2>
      <Facts
        rows={[
          [t('month'), wholeMonth(month)],
          [t('sales'), lira(sales)],
          [t('refunds'), lira(refunds)],
          [t('commission'), lira(commission)],
          [t('payout'), <strong key="payout">{lira(payout)}</strong>],
        ]}
      />
      {lines.length === 0 ? (
        <Empty>{t('emptyMonth')}</Empty>
      ) : (
        <Table
          caption={t('statement')}
          rows={lines}
          rowKey={(line) => `${line.kind} ${line.order_id} ${line.line}`}
          columns={[
            { head: t('item'), cell: (line) => <Sold of={line} /> },
            { head: t('kind'), cell: (line) => termText('kind', line.kind) },
            { head: t('orderNumber'), cell: (line) => `${line.order_id}/${line.line}` },
            { head: t('when'), short: true, cell: (line) => moment(line.at) },
            { head: t('quantity'), number: true, cell: (line) => count(line.quantity) },
            { head: t('amount'), number: true, cell: (line) => lira(line.amount) },
            { head: t('commission'), number: true, cell: (line) => lira(line.commission) },
            { head: t('payout'), number: true, cell: (line) => lira(line.payout) },
          ]}
        />
      )}
    </>
  )
}
