// The data of a price chart as a table, page by page, for screen readers and for reading exact amounts.
import { useState } from 'preact/hooks'
import type { ChartRow } from './price-lines.ts'
import { Status } from './states.tsx'
import { Table } from './table.tsx'
import { calendarDay, money, moment, t, termText } from './words.ts'

const PER_PAGE = 100

interface ChartTableProps {
  /** newest first */
  rows: ChartRow[]
  label: string
  currency: string
}

export function ChartTable({ rows, label, currency }: ChartTableProps) {
  const [open, setOpen] = useState(false)
  const [chosenPage, setPage] = useState(1)
  const last = Math.max(1, Math.ceil(rows.length / PER_PAGE))
  const page = Math.min(chosenPage, last)
  const from = (page - 1) * PER_PAGE
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t('asTable', { count: rows.length })}</summary>
      {open && (
        <>
          <Table
            caption={t('priceChartOf', { label, currency })}
            rows={rows.slice(from, from + PER_PAGE)}
            rowKey={({ key }) => key}
            columns={[
              { head: t('when'), short: true, cell: ({ at, kind }) => (kind === 'sale' ? moment(at) : calendarDay(at)) },
              { head: t('source'), cell: ({ market }) => (market === null ? t('sale') : termText('market', market)) },
              { head: t('priceIn', { currency }), number: true, cell: ({ converted }) => (converted === null ? '–' : money(converted, currency)) },
              { head: t('statedPrice'), number: true, cell: (row) => money(row.amount, row.currency) },
              { head: t('state'), short: true, cell: ({ kind }) => kind !== null && kind !== 'sale' && <Status code={kind} /> },
            ]}
          />
          {last > 1 && (
            <nav class="pages" aria-label={t('pages')}>
              <span class="quiet">{t('range', { from: from + 1, to: Math.min(from + PER_PAGE, rows.length), total: rows.length })}</span>
              <button type="button" disabled={page === 1} onClick={() => setPage(page - 1)}>
                {t('previous')}
              </button>
              <button type="button" disabled={page === last} onClick={() => setPage(page + 1)}>
                {t('next')}
              </button>
            </nav>
          )}
        </>
      )}
    </details>
  )
}
