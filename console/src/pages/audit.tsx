// The audit log: who changed what and when, with the values before and after.
import { Heading } from '#ui/heading.tsx'
import { periodFilters, periodQuery } from '#ui/table.tsx'
import type { AuditRow } from '../api-types.ts'
import { List } from '../api.ts'
import { moment, t } from '../words.ts'

export function AuditPage() {
  return (
    <>
      <Heading>{t('audit')}</Heading>
      <List
        path="/audit"
        caption={t('audit')}
        empty={t('noAudit')}
        filters={[
          { name: 'actor', label: t('actor') },
          { name: 'action', label: t('action') },
          { name: 'subject_type', label: t('subjectType') },
          { name: 'subject_id', label: t('subjectId') },
          ...periodFilters(),
        ]}
        toQuery={periodQuery}
        rowKey={(row) => row.id}
        columns={[
          { head: t('when'), short: true, sort: 'at', cell: (row) => moment(row.at) },
          { head: t('actor'), cell: (row) => row.actor },
          { head: t('action'), cell: (row) => <code>{row.action}</code> },
          { head: t('subject'), cell: (row) => <Subject row={row} /> },
          { head: t('change'), cell: (row) => <Change row={row} /> },
        ]}
      />
    </>
  )
}

const PAGES: Record<string, string> = {
  account: '/console/accounts',
  item: '/console/catalogue/items',
  import: '/console/imports',
  listing: '/console/listings',
  order: '/console/orders',
}

function Subject({ row }: { row: AuditRow }) {
  const text = `${row.subject_type} ${row.subject_id}`
  const page = PAGES[row.subject_type]
  return page ? <a href={`${page}/${row.subject_id}`}>{text}</a> : text
}

function Change({ row: { before, after } }: { row: AuditRow }) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  const changed = names.filter((name) => formatValue(before?.[name]) !== formatValue(after?.[name]))
  if (changed.length === 0) return '–'
  return (
    <details>
      <summary>{changed.slice(0, 3).join(', ') + (changed.length > 3 ? ' …' : '')}</summary>
      <dl class="changes">
        {changed.map((name) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {before && <del>{formatValue(before[name])}</del>} {after && <ins>{formatValue(after[name])}</ins>}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

function formatValue(value: unknown): string {
  if (value === undefined || value === null) return '–'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
