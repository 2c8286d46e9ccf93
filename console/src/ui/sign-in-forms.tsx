// Signing in to the console: by name, password and code; with a token; or by a one-time link that sets a new password.
import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { Field, Form } from '#ui/dialog.tsx'
import { CredentialForm, SignInFrame, useSubmit } from '#ui/sign-in.tsx'
import { provider, sessions } from '../api.ts'
import { t, termText } from '../words.ts'

export const JOIN_PATH = '/console/join'
export const ACCOUNT_PATH = '/console/my-account'
/** Same minimum as in the service. */
const SHORTEST_PASSWORD = 12

export function ConsoleSignIn() {
  const { path } = useLocation()
  return (
    <SignInFrame>
      {path === JOIN_PATH ? (
        <JoinForm />
      ) : (
        <>
          <ProviderSignIn />
          <PersonForm />
          <p class="quiet">{t('orWithToken')}</p>
          <CredentialForm label={t('operatorToken')} hint={t('tokenHint')} refused={t('tokenRefused')} signIn={sessions.signIn} />
        </>
      )}
    </SignInFrame>
  )
}

/** The button, if the service has an identity provider, and why the last sign-in with it failed. */
function ProviderSignIn() {
  const refused = new URLSearchParams(location.search).get('refused')
  const [leaving, setLeaving] = useState(false)
  if (provider.value === null) return null
  const leave = () => {
    setLeaving(true)
    location.assign('/console/provider')
  }
  return (
    <>
      {refused !== null && (
        <p class="refusal" role="alert">
          {termText('refused', refused)}
        </p>
      )}
      <button type="button" class="main" disabled={leaving} onClick={leave}>
        {t('signInWith', { name: provider.value })}
      </button>
      <p class="quiet">{t('orWithPassword')}</p>
    </>
  )
}

function PersonForm() {
  const { busy, error, submit } = useSubmit(({ name, password, code = '' }) => sessions.signInBy({ name, password, code }))
  return (
    <Form submit={t('signIn')} busy={busy} error={error} onSubmit={submit}>
      <Field label={t('personName')}>
        <input name="name" required maxLength={200} autocomplete="username" spellcheck={false} autofocus />
      </Field>
      <Field label={t('password')}>
        <input name="password" type="password" required autocomplete="current-password" />
      </Field>
      <Field label={t('code')} hint={t('codeHint')}>
        <CodeInput />
      </Field>
    </Form>
  )
}

/** The link's secret is after the `#` of the address, which is never sent to a server; it is removed from the address as soon as it is used. */
export function JoinForm() {
  const { route } = useLocation()
  const params = new URLSearchParams(location.hash.slice(1))
  const [link, invitedName] = [params.get('link') ?? '', params.get('name')]
  const { busy, error, submit } = useSubmit(async ({ name, password }) => {
    await sessions.signInBy({ link, password, ...(invitedName === null && { name }) })
    route(ACCOUNT_PATH, true)
  }, t('linkRefused'))
  return (
    <Form submit={t('join')} busy={busy} error={error} onSubmit={submit}>
      <h2>{invitedName === null ? t('becomeOwner') : t('welcome', { name: invitedName })}</h2>
      <Field label={t('personName')} hint={invitedName === null ? t('personNameHint') : undefined}>
        <input
          name="name"
          required
          maxLength={60}
          autocomplete="username"
          spellcheck={false}
          value={invitedName ?? undefined}
          readOnly={invitedName !== null}
        />
      </Field>
      <NewPassword />
    </Form>
  )
}

export function NewPassword() {
  return (
    <Field label={t('newPassword')} hint={t('passwordHint', { min: SHORTEST_PASSWORD })}>
      <input name="password" type="password" required minLength={SHORTEST_PASSWORD} autocomplete="new-password" />
    </Field>
  )
}

export function CodeInput({ required = false, ...described }: { required?: boolean; 'aria-describedby'?: string }) {
  return <input {...described} name="code" required={required} inputMode="numeric" autocomplete="one-time-code" pattern="[0-9 ]*" maxLength={10} />
}
