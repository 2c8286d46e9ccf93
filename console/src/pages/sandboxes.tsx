// The sandboxes of all accounts, last used first; operators may delete one.
import { useVersion } from '#ui/data.ts'
import { confirm } from '#ui/dialog.tsx'
import { Heading } from '#ui/heading.tsx'
import { Refusal } from '#ui/states.tsx'
import { announce } from '#ui/toasts.tsx'
import { List, useWrite } from '../api.ts'
import type { StoredSandbox } from '../api-types.ts'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { moment, t, termText } from '../words.ts'
import { AccountTabs } from './accounts.tsx'

export function SandboxesPage() {
  const [version, changed] = useVersion()
  const { busy, error, write } = useWrite()
  const remove = async ({ id, account_name: name }: StoredSandbox) => {
    const text = t('removeSandboxText', { name })
    if (!(await confirm({ title: t('removeSandboxTitle'), text, action: t('removeSandbox') }))) return
    if (!(await write('DELETE', `/sandboxes/${id}`))) return
    announce(t('sandboxRemoved'))
    changed()
  }
  return (
    <>
      <Heading>{t('sandboxes')}</Heading>
      <AccountTabs current="sandboxes" />
      <p class="quiet">{t('sandboxesText')}</p>
      <Refusal error={error} />
      <List
        path="/sandboxes"
        caption={t('sandboxes')}
        empty={t('noSandboxes')}
        version={version}
        rowKey={({ id }) => id}
        columns={[
          { head: t('account'), cell: ({ account_id: id, account_name: name }) => <a href={`/console/accounts/${id}`}>{name}</a> },
          { head: t('state'), cell: ({ status }) => termText('sandboxStatus', status) },
          { head: t('sandboxNow'), cell: ({ now }) => moment(now) },
          { head: t('sandboxUsed'), cell: ({ last_used_at: at }) => moment(at) },
          {
            head: t('actions'),
            cell: (row) => (
              <PermittedButton need="support" class="danger" disabled={busy} onClick={() => void remove(row)}>
                {t('removeSandbox')}
              </PermittedButton>
            ),
          },
        ]}
      />
    </>
  )
}
