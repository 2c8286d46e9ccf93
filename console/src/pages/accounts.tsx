// All accounts, and a form for a new one.
import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { useVersion } from '#ui/data.ts'
import { Dialog, Field, Form, type Values } from '#ui/dialog.tsx'
import { Tabs } from '#ui/frame.tsx'
import { Heading } from '#ui/heading.tsx'
import { Id } from '#ui/id.tsx'
import { Options } from '#ui/options.tsx'
import { Status } from '#ui/states.tsx'
import { announce } from '#ui/toasts.tsx'
import { List, isAllowed, useWrite } from '../api.ts'
import { planValues as PLANS } from '../api-values.ts'
import { AccountBulk } from '../ui/account-bulk.tsx'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { count, date, t, termText } from '../words.ts'

export const planOptions = () => PLANS.map((plan) => ({ value: plan, text: termText('plan', plan) }))

export function AccountTabs({ current }: { current: 'accounts' | 'webhooks' | 'sandboxes' | 'personal-data' }) {
  return (
    <Tabs
      tabs={[
        { href: '/console/accounts', text: t('accounts'), current: current === 'accounts' },
        { href: '/console/webhooks', text: t('webhooks'), current: current === 'webhooks' },
        { href: '/console/sandboxes', text: t('sandboxes'), current: current === 'sandboxes' },
        { href: '/console/personal-data', text: t('personalData'), current: current === 'personal-data' },
      ]}
    />
  )
}

export function AccountsPage() {
  const [opening, setOpening] = useState(false)
  const [version, changed] = useVersion()
  return (
    <>
      <Heading>{t('accounts')}</Heading>
      <AccountTabs current="accounts" />
      <List
        path="/accounts"
        caption={t('accounts')}
        empty={t('noAccounts')}
        filters={[
          { name: 'search', label: t('search'), type: 'search' },
          { name: 'plan', label: t('plan'), options: planOptions() },
          {
            name: 'suspended',
            label: t('state'),
            options: [
              { value: '0', text: termText('status', 'open') },
              { value: '1', text: termText('status', 'suspended') },
            ],
          },
        ]}
        actions={
          <PermittedButton need="support" class="main" onClick={() => setOpening(true)}>
            {t('newAccount')}
          </PermittedButton>
        }
        version={version}
        bulk={
          isAllowed('support')
            ? { nameOf: (account) => account.name, actions: (accounts) => <AccountBulk accounts={accounts} onDone={changed} /> }
            : undefined
        }
        rowKey={(account) => account.id}
        columns={[
          { head: t('name'), sort: 'name', cell: (account) => <a href={`/console/accounts/${account.id}`}>{account.name}</a> },
          { head: t('id'), number: true, wide: true, cell: (account) => <Id value={account.id} /> },
          { head: t('plan'), cell: (account) => termText('plan', account.plan) },
          { head: t('state'), cell: (account) => <Status code={account.suspended ? 'suspended' : 'open'} /> },
          { head: t('credits'), number: true, sort: 'highlight_credits', cell: (account) => count(account.highlight_credits) },
          { head: t('since'), short: true, wide: true, sort: 'created_at', cell: (account) => date(account.created_at) },
        ]}
      />
      {opening && <NewAccount onClose={() => setOpening(false)} />}
    </>
  )
}

function NewAccount({ onClose }: { onClose: () => void }) {
  const { busy, error, write } = useWrite()
  const { route } = useLocation()
  const submit = async (values: Values) => {
    const opened = await write('POST', '/accounts', {
      name: values.name!,
      plan: values.plan!,
      highlight_credits: Number(values.credits),
    })
    if (!opened) return
    announce(t('accountOpened'))
    route(`/console/accounts/${opened.data.id}`)
  }
  return (
    <Dialog title={t('newAccount')} onClose={onClose}>
      <Form submit={t('open')} busy={busy} error={error} onSubmit={(values) => void submit(values)} onCancel={onClose}>
        <Field label={t('name')}>
          <input name="name" required maxLength={200} />
        </Field>
        <Field label={t('plan')}>
          <select name="plan">
            <Options of={planOptions()} />
          </select>
        </Field>
        <Field label={t('highlightCredits')}>
          <input name="credits" type="number" min={0} max={1000000} defaultValue="0" required />
        </Field>
      </Form>
    </Dialog>
  )
}
