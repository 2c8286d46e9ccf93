// An account's highlight credits: every grant, use and correction, and a form for new ones.
import { useState } from 'preact/hooks'
import { useVersion } from '#ui/data.ts'
import { Dialog, Field, Form, type Values } from '#ui/dialog.tsx'
import { periodFilters, periodQuery } from '#ui/table.tsx'
import { announce } from '#ui/toasts.tsx'
import { List, useWrite } from '../api.ts'
import type { Account } from '../api-types.ts'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { count, moment, t } from '../words.ts'

export function AccountCredits({ account, onChanged }: { account: Account; onChanged: () => void }) {
  const [changing, setChanging] = useState(false)
  const { busy, error, write } = useWrite()
  const [version, changed] = useVersion()
  const path = `/accounts/${account.id}/credits` as const
  const submit = async (values: Values) => {
    if (!(await write('POST', path, { amount: Number(values.amount), reason: values.reason }))) return
    setChanging(false)
    announce(t('creditsChanged'))
    onChanged()
    changed()
  }
  return (
    <>
      <List
        path={path}
        caption={t('ledger')}
        empty={t('noCredits')}
        version={version}
        filters={[{ name: 'search', label: t('reason'), type: 'search' }, ...periodFilters()]}
        toQuery={periodQuery}
        actions={
          <PermittedButton need="support" class="main" onClick={() => setChanging(true)}>
            {t('changeCredits')}
          </PermittedButton>
        }
        rowKey={(entry) => entry.id}
        columns={[
          { head: t('when'), short: true, cell: (entry) => moment(entry.created_at) },
          { head: t('amount'), number: true, cell: (entry) => (entry.amount > 0 ? `+${count(entry.amount)}` : count(entry.amount)) },
          { head: t('balance'), number: true, cell: (entry) => count(entry.balance) },
          { head: t('reason'), cell: (entry) => entry.reason || '–' },
        ]}
      />
      {changing && (
        <Dialog title={t('changeCredits')} onClose={() => setChanging(false)}>
          <Form submit={t('save')} busy={busy} error={error} onSubmit={(values) => void submit(values)} onCancel={() => setChanging(false)}>
            <Field label={t('amount')} hint={t('amountHint', { balance: account.highlight_credits })}>
              <input name="amount" type="number" step={1} required />
            </Field>
            <Field label={t('reason')}>
              <input name="reason" maxLength={200} />
            </Field>
          </Form>
        </Dialog>
      )}
    </>
  )
}
