// A person's sessions and tokens: listed and revoked, on their own page and on the owners' page.
import { useState } from 'preact/hooks'
import { useVersion } from '#ui/data.ts'
import { confirm, Dialog, Field, Form } from '#ui/dialog.tsx'
import { Secret } from '#ui/secret.tsx'
import { Status } from '#ui/states.tsx'
import { announce } from '#ui/toasts.tsx'
import { List, useWrite, writeNow } from '../api.ts'
import type { NewPersonToken, PersonSession, PersonToken } from '../api-types.ts'
import { date, moment, t } from '../words.ts'

export function PersonSessions({ personId }: { personId: number }) {
  const [version, changed] = useVersion()
  const end = async (session?: PersonSession) => {
    const question = session
      ? {
          title: t('endSession'),
          text: session.current ? t('endCurrentText') : t('endSessionText', { browser: browserOf(session), address: session.address }),
        }
      : { title: t('endAllSessions'), text: t('endAllText') }
    if (!(await confirm({ ...question, action: t('endIt') }))) return
    const ended = session
      ? await writeNow('DELETE', `/people/${personId}/sessions/${session.id}`)
      : await writeNow('DELETE', `/people/${personId}/sessions`)
    if (!ended) return
    announce(t('sessionEnded'))
    changed()
  }
  return (
    <section>
      <h2>{t('sessions')}</h2>
      <List
        path={`/people/${personId}/sessions`}
        caption={t('sessions')}
        empty={t('noSessions')}
        version={version}
        actions={
          <button type="button" onClick={() => void end()}>
            {t('endAllSessions')}
          </button>
        }
        rowKey={({ id }) => id}
        columns={[
          {
            head: t('browser'),
            cell: (session) => (
              <>
                {browserOf(session)} {session.current && <small>{t('thisSession')}</small>}
              </>
            ),
          },
          { head: t('address'), cell: ({ address }) => <code>{address}</code> },
          { head: t('signedInAt'), short: true, cell: ({ created_at: at }) => moment(at) },
          { head: t('endsAt'), short: true, wide: true, cell: ({ expires_at: at }) => moment(at) },
          {
            head: t('actions'),
            cell: (session) => (
              <button
                type="button"
                class="danger"
                aria-label={`${t('endIt')}: ${browserOf(session)}, ${moment(session.created_at)}`}
                onClick={() => void end(session)}
              >
                {t('endIt')}
              </button>
            ),
          },
        ]}
      />
    </section>
  )
}

export function PersonTokens({ personId }: { personId: number }) {
  const [version, changed] = useVersion()
  const [task, setTask] = useState<'create' | NewPersonToken | null>(null)
  const { busy, error, write } = useWrite()
  const create = async (label = '') => {
    const created = await write('POST', `/people/${personId}/tokens`, { label })
    if (!created) return
    setTask(created.data)
    changed()
  }
  const revoke = async ({ id, label }: PersonToken) => {
    const question = { title: t('revokeTitle', { label }), text: t('revokePersonTokenText'), action: t('revoke') }
    if (!(await confirm(question)) || !(await writeNow('DELETE', `/people/${personId}/tokens/${id}`))) return
    announce(t('tokenRevoked'))
    changed()
  }
  return (
    <section>
      <h2>{t('tokens')}</h2>
      <p class="quiet">{t('tokensText')}</p>
      <List
        path={`/people/${personId}/tokens`}
        caption={t('tokens')}
        empty={t('noTokens')}
        version={version}
        actions={
          <button type="button" onClick={() => setTask('create')}>
            {t('newToken')}
          </button>
        }
        rowKey={({ id }) => id}
        columns={[
          { head: t('label'), cell: ({ label }) => label },
          { head: t('endsWith'), cell: ({ last4 }) => <code>…{last4}</code> },
          { head: t('state'), cell: ({ revoked_at: at }) => <Status code={at === null ? 'valid' : 'revoked'} /> },
          { head: t('lastUsed'), short: true, wide: true, cell: ({ last_used_at: at }) => (at ? date(at) : t('never')) },
          { head: t('made'), short: true, wide: true, cell: ({ created_at: at }) => date(at) },
          {
            head: t('actions'),
            cell: (token) =>
              token.revoked_at === null && (
                <button type="button" class="danger" aria-label={`${t('revoke')}: ${token.label}`} onClick={() => void revoke(token)}>
                  {t('revoke')}
                </button>
              ),
          },
        ]}
      />
      {task === 'create' && (
        <Dialog title={t('newToken')} onClose={() => setTask(null)}>
          <Form submit={t('make')} busy={busy} error={error} onSubmit={({ label }) => void create(label)} onCancel={() => setTask(null)}>
            <Field label={t('label')} hint={t('tokenLabelHint')}>
              <input name="label" required maxLength={200} />
            </Field>
          </Form>
        </Dialog>
      )}
      {task !== null && task !== 'create' && <Secret title={t('newKeyOf', { label: task.label })} value={task.token} onClose={() => setTask(null)} />}
    </section>
  )
}

/** Browser and operating system from the `User-Agent`; its raw text if unrecognised. */
function browserOf({ browser, by_token: byToken, by_provider: byProvider }: PersonSession): string {
  const name = /(Firefox|Edg|Chrome|Safari)\//.exec(browser)?.[1]
  const system = /(Windows|Android|iPhone|iPad|Mac OS X|Linux)/.exec(browser)?.[1]
  const shown = name && system ? `${name === 'Edg' ? 'Edge' : name}, ${system}` : browser || t('unknownBrowser')
  const how = byToken ? t('byToken') : byProvider ? t('byProvider') : null
  return how === null ? shown : `${shown} (${how})`
}
