// Sign-in with a credential that goes to the service once and stays nowhere in the browser.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { ApiError } from './api.ts'
import { asApiError } from './data.ts'
import { Field, Form, type Values } from './dialog.tsx'
import { Logo, Preferences } from './frame.tsx'
import { t } from './words.ts'

interface SignInProps {
  /** what the credential is called */
  label: string
  hint: string
  /** said of a credential that is refused with 401 */
  refused: string
  signIn: (credential: string) => Promise<void>
}

export function SignIn(props: SignInProps) {
  return (
    <SignInFrame>
      <CredentialForm {...props} autofocus />
    </SignInFrame>
  )
}

/** What stands around every way to sign in. */
export function SignInFrame({ children }: { children: ComponentChildren }) {
  return (
    <main class="sign-in">
      <div class="card">
        <h1>
          <Logo size={28} /> Mintmark
        </h1>
        {children}
      </div>
      <Preferences />
    </main>
  )
}

export function CredentialForm({ label, hint, refused, signIn, autofocus = false }: SignInProps & { autofocus?: boolean }) {
  const { busy, error, submit } = useSubmit(({ credential }) => signIn(credential!), refused)
  return (
    <Form submit={t('signIn')} busy={busy} error={error} onSubmit={submit}>
      <Field label={label} hint={hint}>
        <input name="credential" type="password" required autocomplete="current-password" spellcheck={false} autofocus={autofocus} />
      </Field>
    </Form>
  )
}

/**
 * A form whose answer opens another page, or says why not.
 * @param refused said where the answer is 401; without it the service's own words are
 */
export function useSubmit(run: (values: Values) => Promise<void>, refused?: string) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError | null>(null)
  const submit = (values: Values) => {
    setBusy(true)
    setError(null)
    run(values)
      .catch((thrown: unknown) => {
        const failure = asApiError(thrown)
        setError(failure.status === 401 && refused !== undefined ? new ApiError(401, { code: failure.code, message: refused }) : failure)
      })
      .finally(() => setBusy(false))
  }
  return { busy, error, submit }
}
