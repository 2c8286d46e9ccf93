// Sign-in with a credential that goes to the service once and stays nowhere in the browser.
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

export function SignIn({ label, hint, refused, signIn }: SignInProps) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError | null>(null)
  const submit = async ({ credential }: Values) => {
    setBusy(true)
    setError(null)
    try {
      await signIn(credential!)
    } catch (thrown) {
      const failure = asApiError(thrown)
      setError(failure.status === 401 ? new ApiError(401, { code: failure.code, message: refused }) : failure)
      setBusy(false)
    }
  }
  return (
    <main class="sign-in">
      <div class="card">
        <h1>
          <Logo size={28} /> Mintmark
        </h1>
        <Form submit={t('signIn')} busy={busy} error={error} onSubmit={(values) => void submit(values)}>
          <Field label={label} hint={hint}>
            <input name="credential" type="password" required autocomplete="current-password" spellcheck={false} autofocus />
          </Field>
        </Form>
      </div>
      <Preferences />
    </main>
  )
}
