// An account's API keys: created, restricted, rotated and revoked; the key itself is shown once.
import { useState } from 'preact/hooks'
import { useVersion } from '#ui/data.ts'
import { confirm, Dialog, Field, Form, type Values } from '#ui/dialog.tsx'
import { Secret } from '#ui/secret.tsx'
import { Status } from '#ui/states.tsx'
import { announce } from '#ui/toasts.tsx'
import { List, isAllowed, request, useWrite, writeNow } from '../api.ts'
import type { ApiKey, NewApiKey } from '../api-types.ts'
import { pathsOperatorV1AccountsAccount_idKeysGetParametersQueryStateValues as KEY_STATES } from '../api-values.ts'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { BulkButton, forEachRow } from '../ui/bulk.tsx'
import { date, moment, t, termText } from '../words.ts'

type Task = { kind: 'create' } | { kind: 'change'; key: ApiKey } | { kind: 'rotate'; key: ApiKey } | { kind: 'show'; key: NewApiKey } | null

export function AccountKeys({ accountId }: { accountId: number }) {
  const [task, setTask] = useState<Task>(null)
  const [version, changed] = useVersion()
  const onCreated = (key: NewApiKey) => {
    setTask({ kind: 'show', key })
    changed()
  }
  const revoke = async (key: ApiKey) => {
    const question = { title: t('revokeTitle', { label: nameOf(key) }), text: t('revokeText'), action: t('revoke') }
    if (!(await confirm(question)) || !(await writeNow('DELETE', `/keys/${key.id}`))) return
    announce(t('keyRevoked'))
    changed()
  }
  const revokeAll = async (keys: ApiKey[]) => {
    const question = { title: t('revokeAllTitle', { count: keys.length }), text: t('revokeAllText'), action: t('revoke') }
    if (!(await confirm(question))) return
    const done = await forEachRow(keys, ({ id }) => request('DELETE', `/keys/${id}`))
    if (done.length > 0) announce(t('revokedCount', { count: done.length }))
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
          { name: 'state', label: t('state'), options: KEY_STATES.map((code) => ({ value: code, text: termText('status', code) })) },
        ]}
        actions={
          <PermittedButton need="support" class="main" onClick={() => setTask({ kind: 'create' })}>
            {t('newKey')}
          </PermittedButton>
        }
        bulk={
          isAllowed('support')
            ? {
                nameOf,
                actions: (chosen) => {
                  const keys = chosen.filter(({ revoked_at: at }) => at === null)
                  return keys.length > 0 && <BulkButton text={t('revokeCount', { count: keys.length })} class="danger" run={() => revokeAll(keys)} />
                },
              }
            : undefined
        }
        rowKey={(key) => key.id}
        columns={[
          { head: t('label'), cell: nameOf },
          { head: t('endsWith'), cell: (key) => <code>…{key.last4}</code> },
          { head: t('state'), cell: (key) => <Status code={stateOf(key)} /> },
          { head: t('limits'), cell: limitsOf },
          { head: t('lastUsed'), short: true, wide: true, cell: (key) => (key.last_used_at ? date(key.last_used_at) : t('never')) },
          { head: t('expires'), short: true, wide: true, cell: (key) => (key.expires_at ? moment(key.expires_at) : t('never')) },
          { head: t('made'), short: true, wide: true, cell: (key) => date(key.created_at) },
          {
            head: t('actions'),
            cell: (key) =>
              key.revoked_at === null && (
                <span class="buttons tight">
                  {stateOf(key) === 'valid' && (
                    <PermittedButton need="support" aria-label={`${t('edit')}: ${nameOf(key)}`} onClick={() => setTask({ kind: 'change', key })}>
                      {t('edit')}
                    </PermittedButton>
                  )}
                  <PermittedButton need="support" aria-label={`${t('rotate')}: ${nameOf(key)}`} onClick={() => setTask({ kind: 'rotate', key })}>
                    {t('rotate')}
                  </PermittedButton>
                  <PermittedButton need="support" class="danger" aria-label={`${t('revoke')}: ${nameOf(key)}`} onClick={() => void revoke(key)}>
                    {t('revoke')}
                  </PermittedButton>
                </span>
              ),
          },
        ]}
      />
      {task?.kind === 'create' && <CreateKey accountId={accountId} onMade={onCreated} onClose={() => setTask(null)} />}
      {task?.kind === 'change' && (
        <ChangeKey
          of={task.key}
          onChanged={() => {
            setTask(null)
            announce(t('keyChanged'))
            changed()
          }}
          onClose={() => setTask(null)}
        />
      )}
      {task?.kind === 'rotate' && <RotateKey of={task.key} onMade={onCreated} onClose={() => setTask(null)} />}
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
    const created = await write('POST', `/accounts/${accountId}/keys`, bodyOf(values))
    if (created) onMade(created.data)
  }
  return (
    <Dialog title={t('newKey')} onClose={onClose}>
      <Form submit={t('make')} busy={busy} error={error} onSubmit={(values) => void submit(values)} onCancel={onClose}>
        <KeyFields />
      </Form>
    </Dialog>
  )
}

function ChangeKey({ of, onChanged, onClose }: { of: ApiKey; onChanged: () => void; onClose: () => void }) {
  const { busy, error, write } = useWrite()
  const submit = async (values: Values) => {
    if (await write('PATCH', `/keys/${of.id}`, bodyOf(values, of))) onChanged()
  }
  return (
    <Dialog title={t('changeKey', { label: nameOf(of) })} onClose={onClose}>
      <Form submit={t('save')} busy={busy} error={error} onSubmit={(values) => void submit(values)} onCancel={onClose}>
        <KeyFields of={of} />
      </Form>
    </Dialog>
  )
}

function KeyFields({ of }: { of?: ApiKey }) {
  return (
    <>
      <Field label={t('label')} hint={t('labelHint')}>
        <input name="label" maxLength={200} defaultValue={of?.label} />
      </Field>
      <Field label={t('expires')} hint={t('expiresHint')}>
        <input name="expires" type="datetime-local" step="1" defaultValue={localTime(of?.expires_at)} />
      </Field>
      <label class="check">
        <input type="checkbox" name="read_only" defaultChecked={of?.read_only} /> {t('readOnlyHint')}
      </label>
      <Field label={t('allowedOrigins')} hint={t('allowedOriginsHint')}>
        <textarea name="allowed_origins" rows={2} defaultValue={of?.allowed_origins.join('\n')} />
      </Field>
      <Field label={t('allowedAddresses')} hint={t('allowedAddressesHint')}>
        <textarea name="allowed_addresses" rows={2} defaultValue={of?.allowed_addresses.join('\n')} />
      </Field>
    </>
  )
}

function RotateKey({ of, onMade, onClose }: MakingProps & { of: ApiKey }) {
  const { busy, error, write } = useWrite()
  const submit = async (values: Values) => {
    const rotated = await write('POST', `/keys/${of.id}/rotate`, { overlap_hours: Number(values.overlap) })
    if (rotated) onMade(rotated.data)
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

/** @param before the key being changed: an unchanged expiry is not sent, because the field would drop its milliseconds */
function bodyOf(values: Values, before?: ApiKey) {
  const lines = (text = '') => text.split(/\s+/).filter((line) => line !== '')
  const expires = values.expires ?? ''
  const staysSo = before !== undefined && expires === localTime(before.expires_at)
  return {
    label: values.label ?? '',
    ...(!staysSo && { expires_at: expires === '' ? null : new Date(expires).toISOString() }),
    read_only: values.read_only !== undefined,
    allowed_origins: lines(values.allowed_origins),
    allowed_addresses: lines(values.allowed_addresses),
  }
}

/** A time as the value of a local date and time field, to the second. */
function localTime(moment: string | null | undefined): string {
  if (!moment) return ''
  const at = new Date(moment)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}

function limitsOf({ read_only: readOnly, allowed_origins: origins, allowed_addresses: addresses }: ApiKey): string {
  return [...(readOnly ? [t('readOnly')] : []), ...origins, ...addresses].join(', ') || t('noLimits')
}

function nameOf(key: ApiKey): string {
  return key.label || `#${key.id}`
}

function stateOf(key: ApiKey): string {
  if (key.revoked_at !== null) return 'revoked'
  return key.expires_at !== null && Date.parse(key.expires_at) <= Date.now() ? 'expired' : 'valid'
}
