// Sign-in with an operator token; the token goes to the service once and stays nowhere in the browser.
import { useState } from 'preact/hooks'
import { ApiError, signIn } from '../api.ts'
import { asApiError } from '../data.ts'
import { Field, Form, type Values } from '../ui/dialog.tsx'
import { Preferences } from '../ui/frame.tsx'
import { t } from '../words.ts'

export function SignInPage() {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError | null>(null)
  const submit = async (values: Values) => {
    setBusy(true)
    setError(null)
    try {
      await signIn(values.token!)
    } catch (failure) {
      const refused = asApiError(failure)
      setError(refused.status === 401 ? new ApiError(401, { code: 'TOKEN_REFUSED', message: t('tokenRefused') }) : refused)
      setBusy(false)
    }
  }
  return (
    <main class="sign-in">
      <div class="card">
        <h1>
          <img src="/console/favicon.svg" alt="" width="28" height="28" /> Mintmark
        </h1>
        <Form submit={t('signIn')} busy={busy} error={error} onSubmit={(values) => void submit(values)}>
          <Field label={t('operatorToken')} hint={t('tokenHint')}>
            <input name="token" type="password" required autocomplete="current-password" spellcheck={false} autofocus />
          </Field>
        </Form>
      </div>
      <Preferences />
    </main>
  )
}
