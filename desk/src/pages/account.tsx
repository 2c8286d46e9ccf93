// The signed-in account and its key: plan, limits, and usage of the key in the last 30 days.
import { Bars } from '#ui/bars.tsx'
import { Heading } from '#ui/heading.tsx'
import { Await, Empty, Facts } from '#ui/states.tsx'
import { timeZone } from '#ui/time-zone.ts'
import { Table } from '#ui/table.tsx'
import type { Me } from '../../../client/src/api.ts'
import { useData } from '../api.ts'
import { calendarDay, count, moment, t, termText } from '../words.ts'

const DAYS = 30

export function AccountPage() {
  const me = useData('/me')
  return (
    <Await of={me} title={t('account')}>
      {({ account, key, limits, highlight_credits: credits, usage }) => (
        <>
          <Heading>{account.name}</Heading>
          <Facts
            rows={[
              [t('plan'), termText('plan', account.plan)],
              [t('requestsPerMinute'), limits.requests_per_minute === null ? t('noLimits') : count(limits.requests_per_minute)],
              [t('highlightCredits'), count(credits)],
              [t('timeZone'), timeZone.value],
            ]}
          />
          <section>
            <h2>{t('key')}</h2>
            <Facts
              rows={[
                [t('label'), key.label],
                [t('endsWith'), <code key="last4">…{key.last4}</code>],
                [t('expires'), key.expires_at ? moment(key.expires_at) : t('never')],
                [
                  t('limits'),
                  [...(key.read_only ? [t('readOnly')] : []), ...key.allowed_origins, ...key.allowed_addresses].join(', ') || t('noLimits'),
                ],
              ]}
            />
          </section>
          <section>
            <h2>{t('usage')}</h2>
            <Usage of={usage} />
          </section>
        </>
      )}
    </Await>
  )
}

function Usage({ of: usage }: { of: Me['usage'] }) {
  if (usage.length === 0) return <Empty>{t('noUsage')}</Empty>
  const days = lastDays().map((day) => ({ day, value: sumOf(usage.filter((row) => row.day === day)) }))
  return (
    <>
      <Bars title={t('requestsByDay')} days={days} show={count} />
      <Table
        caption={t('usage')}
        rows={usage}
        rowKey={(row) => `${row.day} ${row.operation}`}
        columns={[
          { head: t('day'), short: true, cell: (row) => calendarDay(row.day) },
          { head: t('operation'), cell: (row) => <code>{row.operation}</code> },
          { head: t('requests'), number: true, cell: (row) => count(row.requests) },
        ]}
      />
    </>
  )
}

function lastDays(): string[] {
  return Array.from({ length: DAYS }, (_, n) => new Date(Date.now() - (DAYS - 1 - n) * 86_400_000).toISOString().slice(0, 10))
}

function sumOf(rows: Me['usage']): number {
  return rows.reduce((sum, row) => sum + row.requests, 0)
}
