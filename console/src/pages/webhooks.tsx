// Webhook events, of one account or of all: how their delivery goes, sent again, and test events.
import type { ComponentChildren } from 'preact'
import { useVersion, useWrite, writeNow } from '../data.ts'
import { EVENT_STATES, type WebhookEvent } from '../rows.ts'
import { Heading } from '../ui/heading.tsx'
import { Status } from '../ui/states.tsx'
import { type Column, List } from '../ui/table.tsx'
import { announce } from '../ui/toasts.tsx'
import { ago, count, moment, t, term } from '../words.ts'
import { AccountTabs } from './accounts.tsx'

const SOON_MS = 2_000

export function AccountWebhook({ accountId }: { accountId: number }) {
  const test = useWrite()
  const [version, changed] = useVersion()
  const sendTest = async (event: string) => {
    if (!(await test.write('POST', `/accounts/${accountId}/webhook/test`, { event }))) return
    announce(t('testQueued'))
    changed()
  }
  return (
    <>
      {test.error && (
        <p class="refusal" role="alert">
          {test.error.message}
        </p>
      )}
      <WebhookEvents
        accountId={accountId}
        version={version}
        actions={
          <>
            <button type="button" disabled={test.busy} onClick={() => void sendTest('sale')}>
              {t('testSale')}
            </button>
            <button type="button" disabled={test.busy} onClick={() => void sendTest('expire')}>
              {t('testExpire')}
            </button>
          </>
        }
      />
    </>
  )
}

export function WebhooksPage() {
  return (
    <>
      <Heading>{t('accounts')}</Heading>
      <AccountTabs current="webhooks" />
      <WebhookEvents accountId={null} version={0} />
    </>
  )
}

const accountColumn = (): Column<WebhookEvent> => ({
  head: t('account'),
  number: true,
  cell: (event) => <a href={`/console/accounts/${event.account_id}?view=webhook`}>{event.account_id}</a>,
})

interface WebhookEventsProps {
  /** null for all accounts */
  accountId: number | null
  version: number
  actions?: ComponentChildren
}

function WebhookEvents({ accountId, version: outer, actions }: WebhookEventsProps) {
  const [inner, changed] = useVersion()
  const redeliver = async (event: WebhookEvent) => {
    if (!(await writeNow('POST', `/webhook-events/${event.id}/redeliver`))) return
    announce(t('redelivering'))
    changed()
  }
  return (
      <List<WebhookEvent>
        path="/webhook-events"
        fixed={accountId === null ? {} : { account_id: accountId }}
        caption={t('deliveries')}
        empty={t('noEvents')}
        filters={[
          { name: 'state', label: t('state'), options: EVENT_STATES.map((code) => ({ value: code, text: term('status', code) })) },
          ...(accountId === null ? [{ name: 'account_id', label: t('accountId'), type: 'number' as const }] : []),
        ]}
        version={outer + inner}
        again={(events) => (events.some((event) => event.state === 'queued') ? SOON_MS : null)}
        actions={actions}
        rowKey={(event) => event.id}
        columns={[
          { head: t('id'), number: true, cell: (event) => event.id },
          ...(accountId === null ? [accountColumn()] : []),
          { head: t('event'), cell: (event) => term('event', event.event) },
          { head: t('state'), cell: (event) => <Status code={event.state} /> },
          { head: t('attempts'), number: true, cell: (event) => count(event.attempts) },
          { head: t('due'), wide: true, cell: (event) => (event.due_at ? ago(event.due_at) : '–') },
          {
            head: t('content'),
            wide: true,
            cell: (event) => (
              <details>
                <summary>{event.test ? t('testEvent') : t('show')}</summary>
                <pre>{JSON.stringify(event.body, null, 2)}</pre>
              </details>
            ),
          },
          { head: t('when'), wide: true, cell: (event) => moment(event.created_at) },
          {
            head: t('actions'),
            cell: (event) =>
              event.state !== 'queued' && (
                <button type="button" aria-label={`${t('redeliver')}: ${event.id}`} onClick={() => void redeliver(event)}>
                  {t('redeliver')}
                </button>
              ),
          },
        ]}
      />
  )
}
