// One account: plan, overview, keys and their usage, credits with their ledger, collections, listings and webhook deliveries.
import { useState } from 'preact/hooks'
import { useRoute } from 'preact-iso'
import type { Loaded } from '#ui/data.ts'
import { confirm, Dialog, Field, Form } from '#ui/dialog.tsx'
import { useAddressQuery } from '#ui/address.ts'
import { Tabs } from '#ui/frame.tsx'
import { Heading } from '#ui/heading.tsx'
import { Options } from '#ui/options.tsx'
import { Await, Facts, Status } from '#ui/states.tsx'
import { announce } from '#ui/toasts.tsx'
import { useData, useWrite } from '../api.ts'
import type { Account } from '../api-types.ts'
import { EndAccess } from '../ui/end-access.tsx'
import { ErasePerson, ExportLink } from '../ui/erase-person.tsx'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { count, moment, t, termText, type PlainWord } from '../words.ts'
import { planOptions } from './accounts.tsx'
import { AccountCollections } from './account-collections.tsx'
import { AccountCredits } from './account-credits.tsx'
import { AccountOverview } from './account-overview.tsx'
import { AccountKeys } from './account-keys.tsx'
import { AccountUsage } from './account-usage.tsx'
import { AccountWebhook } from './webhooks.tsx'

const VIEWS: { name: string; word: PlainWord }[] = [
  { name: 'overview', word: 'overview' },
  { name: 'keys', word: 'keys' },
  { name: 'usage', word: 'usage' },
  { name: 'credits', word: 'credits' },
  { name: 'collections', word: 'collections' },
  { name: 'webhook', word: 'webhook' },
]

export function AccountPage() {
  const id = Number(useRoute().params.id)
  const { path } = useRoute()
  const account = useData(`/accounts/${id}`)
  const requested = useAddressQuery().values.view
  const { name: view } = VIEWS.find(({ name }) => name === requested) ?? VIEWS[0]!
  return (
    <>
      <p class="trail">
        <a href="/console/accounts">{t('accounts')}</a>
      </p>
      <Await of={account} title={t('account')}>
        {(row) => (
          <>
            <Head account={row} of={account} />
            <Tabs
              tabs={VIEWS.map(({ name, word }) => ({
                href: name === 'overview' ? path : `${path}?view=${name}`,
                text: t(word),
                current: name === view,
              }))}
            />
            {view === 'overview' && <AccountOverview accountId={id} />}
            {view === 'keys' && <AccountKeys accountId={id} />}
            {view === 'usage' && <AccountUsage accountId={id} />}
            {view === 'credits' && <AccountCredits account={row} onChanged={account.reload} />}
            {view === 'collections' && <AccountCollections accountId={id} />}
            {view === 'webhook' && <AccountWebhook accountId={id} />}
          </>
        )}
      </Await>
    </>
  )
}

function Head({ account, of }: { account: Account; of: Loaded<Account> }) {
  const [changing, setChanging] = useState(false)
  const { busy, error, write } = useWrite()
  const change = async (changes: object) => {
    if (!(await write('PATCH', `/accounts/${account.id}`, changes))) return
    setChanging(false)
    announce(t('accountChanged'))
    of.reload()
  }
  const suspend = async () => {
    const question = { title: t('suspendTitle', { name: account.name }), text: t('suspendText'), action: t('suspend') }
    if (account.suspended || (await confirm(question))) await change({ suspended: !account.suspended })
  }
  return (
    <>
      <div class="head">
        <Heading>{account.name}</Heading>
        <div class="actions">
          <a class="button" href={`/console/listings?seller_id=${account.id}`}>
            {t('listings')}
          </a>
          <PermittedButton need="support" onClick={() => setChanging(true)}>
            {t('edit')}
          </PermittedButton>
          <PermittedButton need="support" class={account.suspended ? '' : 'danger'} disabled={busy} onClick={() => void suspend()}>
            {account.suspended ? t('resume') : t('suspend')}
          </PermittedButton>
          <ExportLink accountId={account.id} />
          <EndAccess accountId={account.id} />
          <ErasePerson account={account} onDone={of.reload} />
        </div>
      </div>
      <Facts
        rows={[
          [t('id'), String(account.id)],
          [t('plan'), termText('plan', account.plan)],
          [t('state'), <Status key="state" code={account.suspended ? 'suspended' : 'open'} />],
          [t('highlightCredits'), count(account.highlight_credits)],
          [
            t('listingIntake'),
            account.listing_intake ? t('listingIntakeUpTo', { count: count(account.listing_intake.quota) }) : t('listingIntakeClosed'),
          ],
          [t('since'), moment(account.created_at)],
        ]}
      />
      {changing && (
        <Dialog title={t('editAccount')} onClose={() => setChanging(false)}>
          <Form
            submit={t('save')}
            busy={busy}
            error={error}
            onSubmit={({ name, plan, quota }) => void change({ name, plan, listing_intake: quota ? { quota: Number(quota) } : null })}
            onCancel={() => setChanging(false)}
          >
            <Field label={t('name')}>
              <input name="name" required maxLength={200} defaultValue={account.name} />
            </Field>
            <Field label={t('plan')} hint={t('planHint')}>
              <select name="plan">
                <Options of={planOptions()} selected={account.plan} />
              </select>
            </Field>
            <Field label={t('listingIntake')} hint={t('listingIntakeHint')}>
              <input name="quota" type="number" min={1} max={1_000_000} defaultValue={account.listing_intake?.quota} />
            </Field>
          </Form>
        </Dialog>
      )}
    </>
  )
}
