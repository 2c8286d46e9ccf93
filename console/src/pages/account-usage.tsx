// Usage of an account's API keys in the last 30 days, by day and operation.
import { List, useData } from '../api.ts'
import { count, date, t } from '../words.ts'

export function AccountUsage({ accountId }: { accountId: number }) {
  const keys = useData(`/accounts/${accountId}/keys`, { query: { per_page: 100 } })
  const labels = new Map((keys.data ?? []).map((key) => [key.id, key.label || `…${key.last4}`]))
  const nameOf = (id: number) => labels.get(id) ?? `#${id}`
  return (
    <List
      path={`/accounts/${accountId}/usage`}
      caption={t('usage')}
      empty={t('noUsage')}
      filters={[{ name: 'key_id', label: t('key'), options: [...labels].map(([id, text]) => ({ value: String(id), text })) }]}
      rowKey={(row) => `${row.day} ${row.key_id} ${row.operation}`}
      columns={[
        { head: t('day'), short: true, cell: (row) => date(row.day) },
        { head: t('key'), cell: (row) => nameOf(row.key_id) },
        { head: t('operation'), cell: (row) => <code>{row.operation}</code> },
        { head: t('requests'), number: true, cell: (row) => count(row.requests) },
      ]}
    />
  )
}
