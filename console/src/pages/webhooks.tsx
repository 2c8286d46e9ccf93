// Webhook events of one account or of all: delivery status and responses, redelivery, and test events.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { newKey } from '#ui/api.ts'
import { useVersion } from '#ui/data.ts'
import { Heading } from '#ui/heading.tsx'
import { Id } from '#ui/id.tsx'
import { Await, Empty, Facts, Refusal, Status } from '#ui/states.tsx'
import type { Column } from '#ui/table.tsx'
import { announce } from '#ui/toasts.tsx'
import { List, isAllowed, request, useData, useWrite, writeNow } from '../api.ts'
import type { AccountWebhook as Webhook, WebhookEvent } from '../api-types.ts'
import { eventKindValues as EVENT_KINDS, webhookEventStateValues as EVENT_STATES } from '../api-values.ts'
import { AttemptState } from '../ui/attempt-state.tsx'
import { RecordLink } from '../ui/record-link.tsx'
import { accounts } from '../ui/sources.ts'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { BulkButton, forEachRow } from '../ui/bulk.tsx'
import { ago, count, moment, t, termText } from '../words.ts'
import { AccountTabs } from './accounts.tsx'

const SOON_MS = 2_000

export function AccountWebhook({ accountId }: { accountId: number }) {
  const test = useWrite()
  const [version, changed] = useVersion()
  const webhook = useData(`/accounts/${accountId}/webhook`, { version })
  const sendTest = async (event: string) => {
    if (!(await test.write('POST', `/accounts/${accountId}/webhook/test`, { event }))) return
    announce(t('testQueued'))
    changed()
  }
  return (
    <>
      {webhook.loading || webhook.error || webhook.data ? (
        <Await of={webhook}>{(row) => row && <Settings of={row} />}</Await>
      ) : (
        <Empty>{t('noWebhook')}</Empty>
      )}
      <Refusal error={test.error} />
      <section>
        <h2>{t('deliveries')}</h2>
        <WebhookEvents
          accountId={accountId}
          version={version}
          actions={
            <>
              <PermittedButton need="support" disabled={test.busy || !webhook.data} onClick={() => void sendTest('sale')}>
                {t('testSale')}
              </PermittedButton>
              <PermittedButton need="support" disabled={test.busy || !webhook.data} onClick={() => void sendTest('expire')}>
                {t('testExpire')}
              </PermittedButton>
            </>
          }
        />
      </section>
    </>
  )
}

function Settings({ of: { url, on_sale: onSale, on_expire: onExpire, is_active: isActive, failing, updated_at: at } }: { of: Webhook }) {
  const sent = [onSale && termText('event', 'sale'), onExpire && termText('event', 'expire')].filter(Boolean).join(', ')
  return (
    <Facts
      rows={[
        [t('address'), <code key="url">{url}</code>],
        [t('state'), <Status key="state" code={isActive ? (failing ? 'failed' : 'on') : 'paused'} />],
        [t('sends'), sent],
        [t('changedAt'), moment(at)],
      ]}
    />
  )
}

/** Number of attempts to deliver an event; expands to the response of each. */
function Attempts({ of: event }: { of: WebhookEvent }) {
  const [open, setOpen] = useState(false)
  if (event.attempts === 0) return count(0)
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary aria-label={t('attemptsOf', { id: String(event.id), count: event.attempts })}>{count(event.attempts)}</summary>
      {open && <Answers of={event} />}
    </details>
  )
}

function Answers({ of: event }: { of: WebhookEvent }) {
  const path = `/accounts/${event.account_id}/webhook/attempts` as const
  const attempts = useData(path, { query: { event_id: event.id, per_page: 100 }, version: event.attempts })
  return (
    <Await of={attempts}>
      {(rows) => (
        <ul class="answers">
          {rows.map((attempt) => (
            <li key={attempt.id}>
              <AttemptState of={attempt} />{' '}
              <span class="quiet">
                {moment(attempt.started_at)}
                {attempt.mark && attempt.mark !== 'check' && ` · ${termText('mark', attempt.mark)}`}
              </span>
              {attempt.response_excerpt !== '' && <pre>{attempt.response_excerpt}</pre>}
            </li>
          ))}
        </ul>
      )}
    </Await>
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
  cell: (event) => <RecordLink of="accounts" id={event.account_id} view="webhook" />,
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
  const redeliverAll = async (events: WebhookEvent[]) => {
    const done = await forEachRow(events, ({ id }) => request('POST', `/webhook-events/${id}/redeliver`, { idempotencyKey: newKey() }))
    if (done.length > 0) announce(t('redeliveringCount', { count: done.length }))
    changed()
  }
  return (
    <List
      path="/webhook-events"
      fixed={accountId === null ? {} : { account_id: accountId }}
      caption={t('deliveries')}
      empty={t('noEvents')}
      filters={[
        { name: 'state', label: t('state'), options: EVENT_STATES.map((code) => ({ value: code, text: termText('status', code) })) },
        { name: 'event', label: t('event'), options: EVENT_KINDS.map((code) => ({ value: code, text: termText('event', code) })) },
        {
          name: 'test',
          label: t('tests'),
          options: [
            { value: '1', text: t('yes') },
            { value: '0', text: t('no') },
          ],
        },
        ...(accountId === null ? [{ name: 'account_id' as const, label: t('account'), picker: accounts }] : []),
      ]}
      version={outer + inner}
      again={(events) => (events.some((event) => event.state === 'queued') ? SOON_MS : null)}
      actions={actions}
      bulk={
        isAllowed('support')
          ? {
              nameOf: ({ id, event }) => `${termText('event', event)} ${id}`,
              actions: (chosen) => {
                const events = chosen.filter(({ state }) => state !== 'queued')
                return events.length > 0 && <BulkButton text={t('redeliverCount', { count: events.length })} run={() => redeliverAll(events)} />
              },
            }
          : undefined
      }
      rowKey={(event) => event.id}
      columns={[
        { head: t('id'), number: true, cell: (event) => <Id value={event.id} /> },
        ...(accountId === null ? [accountColumn()] : []),
        { head: t('event'), cell: (event) => termText('event', event.event) },
        { head: t('state'), cell: (event) => <Status code={event.state} {...(event.test && event.state === 'cancelled' && { tone: '' })} /> },
        { head: t('attempts'), cell: (event) => <Attempts of={event} /> },
        { head: t('due'), short: true, wide: true, cell: (event) => (event.due_at ? ago(event.due_at) : '–') },
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
        { head: t('when'), short: true, wide: true, sort: 'created_at', cell: (event) => moment(event.created_at) },
        {
          head: t('actions'),
          cell: (event) =>
            event.state !== 'queued' && (
              <span class="buttons tight">
                <PermittedButton need="support" aria-label={`${t('redeliver')}: ${event.id}`} onClick={() => void redeliver(event)}>
                  {t('redeliver')}
                </PermittedButton>
              </span>
            ),
        },
      ]}
    />
  )
}
