// The response to a breach: asks for confirmation, ends all access of a scope, and shows the report.
import { useState } from 'preact/hooks'
import { Dialog, Field, Form } from '#ui/dialog.tsx'
import { Facts } from '#ui/states.tsx'
import { useWrite } from '../api.ts'
import type { BreachReport } from '../api-types.ts'
import { roleValues as ROLES } from '../api-values.ts'
import { count, t, termText } from '../words.ts'
import { PermittedButton } from './permitted-button.tsx'

/** @param accountId only this account; without it, the dialog asks for a role or everything */
export function EndAccess({ accountId }: { accountId?: number }) {
  const [open, setOpen] = useState(false)
  const [report, setReport] = useState<BreachReport | null>(null)
  const { busy, error, write } = useWrite()
  const close = () => {
    setOpen(false)
    setReport(null)
  }
  const submit = async ({ scope, reason }: Record<string, string | undefined>) => {
    const of =
      accountId !== undefined ? { account_id: accountId } : scope === 'all' ? { all: true as const } : { role: scope as (typeof ROLES)[number] }
    const done = await write('POST', '/breach', { ...of, reason: reason! })
    if (done) setReport(done.data)
  }
  return (
    <>
      <PermittedButton need="owner" class="danger" onClick={() => setOpen(true)}>
        {t('endAccess')}
      </PermittedButton>
      {open && (
        <Dialog title={t('endAccess')} onClose={close}>
          {report ? (
            <Report of={report} />
          ) : (
            <Form submit={t('endAccess')} danger busy={busy} error={error} onSubmit={(values) => void submit(values)} onCancel={close}>
              <p>{t(accountId === undefined ? 'endAccessText' : 'endAccessAccountText')}</p>
              {accountId === undefined && (
                <Field label={t('endAccessScope')}>
                  <select name="scope" required>
                    {ROLES.map((role) => (
                      <option key={role} value={role}>
                        {t('endAccessRole', { role: termText('role', role) })}
                      </option>
                    ))}
                    <option value="all">{t('endAccessAll')}</option>
                  </select>
                </Field>
              )}
              <Field label={t('reason')}>
                <input name="reason" required maxLength={200} />
              </Field>
            </Form>
          )}
        </Dialog>
      )}
    </>
  )
}

function Report({ of: { ended, tell, to_do: toDo, way_back: wayBack } }: { of: BreachReport }) {
  return (
    <>
      <Facts
        rows={[
          [t('endedSessions'), count(ended.sessions)],
          [t('revokedKeys'), count(ended.keys)],
          [t('revokedTokens'), count(ended.tokens)],
          [t('replacedSecrets'), count(ended.webhook_secrets)],
          [t('tellAccounts'), `${count(tell.accounts_total)}: ${tell.accounts.map(({ id, name }) => `${name} (${id})`).join(', ') || '–'}`],
          [t('tellPeople'), tell.people.map(({ name }) => name).join(', ') || '–'],
          [t('wayBack'), termText('wayBack', wayBack)],
        ]}
      />
      <ul>
        {toDo.map((task) => (
          <li key={task}>{termText('breachTask', task)}</li>
        ))}
      </ul>
    </>
  )
}
