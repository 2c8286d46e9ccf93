// An account's API keys: made, rotated and revoked; the key itself is shown once.
import { useState } from 'preact/hooks'
import { useVersion, useWrite, writeNow } from '../data.ts'
import { type ApiKey, pathsOperatorV1AccountsAccount_idKeysGetParametersQueryStateValues as KEY_STATES, type NewApiKey } from '../api-types.ts'
import { confirmed, Dialog, Field, Form, type Values } from '../ui/dialog.tsx'
import { Secret } from '../ui/secret.tsx'
import { Status } from '../ui/states.tsx'
import { List } from '../ui/table.tsx'
import { announce } from '../ui/toasts.tsx'
import { ago, date, moment, t, term } from '../words.ts'

type Task = { kind: 'create' } | { kind: 'rotate'; key: ApiKey } | { kind: 'show'; key: NewApiKey } | null

export function AccountKeys({ accountId }: { accountId: number }) {
  const [task, setTask] = useState<Task>(null)
  const [version, changed] = useVersion()
  const made = (key: NewApiKey) => {
    setTask({ kind: 'show', key })
    changed()
  }
  const revoke = async (key: ApiKey) => {
    const asked = { title: t('revokeTitle', { label: nameOf(key) }), text: t('revokeText'), action: t('revoke') }
    if (!(await confirmed(asked)) || !(await writeNow('DELETE', `/keys/${key.id}`))) return
    announce(t('keyRevoked'))
    changed()
  }
  return (
    <>
      <List
        path={`/accounts/${accountId}/keys`}
        caption={t('keys')}
        empty={t('noKeys')}
        version={version}
        filters={[
          { name: 'search', label: t('label'), type: 'search' },
          { name: 'state', label: t('state'), options: KEY_STATES.map((code) => ({ value: code, text: term('status', code) })) },
        ]}
        actions={
          <button type="button" class="main" onClick={() => setTask({ kind: 'create' })}>
            {t('newKey')}
          </button>
        }
        rowKey={(key) => key.id}
        columns={[
          { head: t('label'), cell: nameOf },
          { head: t('endsWith'), cell: (key) => <code>…{key.last4}</code> },
          { head: t('state'), cell: (key) => <Status code={stateOf(key)} /> },
          { head: t('lastUsed'), short: true, wide: true, cell: (key) => (key.last_used_at ? ago(key.last_used_at) : t('never')) },
          { head: t('expires'), short: true, wide: true, cell: (key) => (key.expires_at ? moment(key.expires_at) : t('never')) },
          { head: t('made'), short: true, wide: true, cell: (key) => date(key.created_at) },
          {
            head: t('actions'),
            cell: (key) =>
              key.revoked_at === null && (
                <span class="buttons tight">
                  <button type="button" aria-label={`${t('rotate')}: ${nameOf(key)}`} onClick={() => setTask({ kind: 'rotate', key })}>
                    {t('rotate')}
                  </button>
                  <button type="button" class="danger" aria-label={`${t('revoke')}: ${nameOf(key)}`} onClick={() => void revoke(key)}>
                    {t('revoke')}
                  </button>
                </span>
              ),
          },
        ]}
      />
      {task?.kind === 'create' && <CreateKey accountId={accountId} onMade={made} onClose={() => setTask(null)} />}
      {task?.kind === 'rotate' && <RotateKey of={task.key} onMade={made} onClose={() => setTask(null)} />}
      {task?.kind === 'show' && <Secret title={t('newKeyOf', { label: nameOf(task.key) })} value={task.key.key} onClose={() => setTask(null)} />}
    </>
  )
}

interface MakingProps {
  onMade: (key: NewApiKey) => void
  onClose: () => void
}

function CreateKey({ accountId, onMade, onClose }: MakingProps & { accountId: number }) {
  const { busy, error, write } = useWrite()
  const submit = async (values: Values) => {
    const expires = values.expires
    const body = { label: values.label, ...(expires && { expires_at: new Date(expires).toISOString() }) }
    const made = await write('POST', `/accounts/${accountId}/keys`, body)
    if (made) onMade(made.data)
  }
  return (
    <Dialog title={t('newKey')} onClose={onClose}>
      <Form submit={t('make')} busy={busy} error={error} onSubmit={(values) => void submit(values)} onCancel={onClose}>
        <Field label={t('label')} hint={t('labelHint')}>
          <input name="label" maxLength={200} />
        </Field>
        <Field label={t('expires')} hint={t('expiresHint')}>
          <input name="expires" type="datetime-local" />
        </Field>
      </Form>
    </Dialog>
  )
}

function RotateKey({ of, onMade, onClose }: MakingProps & { of: ApiKey }) {
  const { busy, error, write } = useWrite()
  const submit = async (values: Values) => {
    const made = await write('POST', `/keys/${of.id}/rotate`, { overlap_hours: Number(values.overlap) })
    if (made) onMade(made.data)
  }
  return (
    <Dialog title={t('rotateTitle', { label: nameOf(of) })} onClose={onClose}>
      <Form submit={t('rotate')} busy={busy} error={error} onSubmit={(values) => void submit(values)} onCancel={onClose}>
        <Field label={t('overlap')} hint={t('overlapHint')}>
          <input name="overlap" type="number" min={0} max={8760} defaultValue="24" required />
        </Field>
      </Form>
    </Dialog>
  )
}

function nameOf(key: ApiKey): string {
  return key.label || `#${key.id}`
}

function stateOf(key: ApiKey): string {
  if (key.revoked_at !== null) return 'revoked'
  return key.expires_at !== null && Date.parse(key.expires_at) <= Date.now() ? 'expired' : 'valid'
}
