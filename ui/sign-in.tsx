// Sign-in with a credential that is sent to the service once and never stored in the browser.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { ApiError } from './api.ts'
import { asApiError } from './data.ts'
import { Field, Form, type Values } from './dialog.tsx'
import { Logo, Preferences } from './frame.tsx'
import { t } from './words.ts'

interface SignInProps {
  /** label of the credential */
  label: string
  hint: string
  /** message for a credential rejected with 401 */
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

/** Frame shared by all sign-in forms. */
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
 * State of a form that opens another page on success, or shows an error.
 * @param refused message for a 401; default: the message of the service
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
