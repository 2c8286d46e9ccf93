// The account of the signed-in person: two-factor sign-in, password, sessions and tokens.
import { useEffect, useState } from 'preact/hooks'
import { Field, Form } from '#ui/dialog.tsx'
import { Heading } from '#ui/heading.tsx'
import { useSubmit } from '#ui/sign-in.tsx'
import { Empty, Facts } from '#ui/states.tsx'
import { announce } from '#ui/toasts.tsx'
import { type SignedInPerson, postToOwnAccount, sessions, useData } from '../api.ts'
import { PersonSessions, PersonTokens } from '../ui/person-parts.tsx'
import { CodeInput, NewPassword } from '../ui/sign-in-forms.tsx'
import { t, termText } from '../words.ts'

export function MyAccountPage() {
  const { person } = sessions.session.value!
  return (
    <>
      <Heading>{t('myAccount')}</Heading>
      {person ? <Account person={person} /> : <Empty>{t('sharedToken')}</Empty>}
    </>
  )
}

function Account({ person: { id, roles, unfinished } }: { person: SignedInPerson }) {
  const { data } = useData(`/people/${id}`)
  return (
    <>
      {unfinished && (
        <p class="refusal" role="status">
          {t('twoFactorFirst')}
        </p>
      )}
      <Facts
        rows={[
          [t('personName'), data?.name ?? '…'],
          [t('roles'), roles.map((role) => termText('role', role)).join(', ')],
        ]}
      />
      {data?.by_provider && <p>{t('providerAccount')}</p>}
      {data?.has_password && <TwoFactor on={data.two_factor} />}
      {!unfinished && (
        <>
          {data?.has_password && <Password />}
          <PersonSessions personId={id} />
          <PersonTokens personId={id} />
        </>
      )}
    </>
  )
}

interface AppSecret {
  secret: string
  uri: string
}

/** First the password, so that nobody who finds the page open can set up their own app; then the code of the app. */
function TwoFactor({ on }: { on: boolean }) {
  const [appSecret, setAppSecret] = useState<AppSecret | null>(null)
  const begin = useSubmit(async ({ current_password: current }) => {
    setAppSecret((await postToOwnAccount<AppSecret>('/two-factor', { current_password: current })).data)
  })
  const confirm = useSubmit(async ({ code }) => {
    await postToOwnAccount('/two-factor/confirm', { code })
    setAppSecret(null)
    announce(t('twoFactorOn'))
    await sessions.loadSession()
  })
  return (
    <section class="narrow">
      <h2>{t('twoFactor')}</h2>
      <p>{on ? t('twoFactorIsOn') : t('twoFactorText')}</p>
      {appSecret === null ? (
        <Form submit={on ? t('changeApp') : t('setUp')} busy={begin.busy} error={begin.error} onSubmit={begin.submit}>
          <CurrentPassword />
        </Form>
      ) : (
        <Form submit={t('confirmCode')} busy={confirm.busy} error={confirm.error} onSubmit={confirm.submit} onCancel={() => setAppSecret(null)}>
          <p>{t('scanText')}</p>
          <QrCode text={appSecret.uri} />
          <p>
            {t('orType')} <output class="secret">{appSecret.secret.replace(/(.{4})(?=.)/g, '$1 ')}</output>
          </p>
          <Field label={t('code')} hint={t('codeOfApp')}>
            <CodeInput required />
          </Field>
        </Form>
      )}
    </section>
  )
}

/** Dark on light in every theme, because cameras need it. */
function QrCode({ text }: { text: string }) {
  const [cells, setCells] = useState<boolean[][]>([])
  useEffect(() => {
    void import('uqr').then(({ encode }) => setCells(encode(text, { border: 2 }).data))
  }, [text])
  const path = cells.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return (
    <svg class="qr-code" role="img" aria-label={t('qrCode')} viewBox={`0 0 ${cells.length || 1} ${cells.length || 1}`} shape-rendering="crispEdges">
      <path d={path} />
    </svg>
  )
}

function Password() {
  const [round, setRound] = useState(0)
  const { busy, error, submit } = useSubmit(async ({ current_password: current, password }) => {
    await postToOwnAccount('/password', { current_password: current, password })
    announce(t('passwordChanged'))
    // Clears the fields.
    setRound((n) => n + 1)
  })
  return (
    <section class="narrow" key={round}>
      <h2>{t('changePassword')}</h2>
      <Form submit={t('changePassword')} busy={busy} error={error} onSubmit={submit}>
        <CurrentPassword />
        <NewPassword />
      </Form>
    </section>
  )
}

function CurrentPassword() {
  return (
    <Field label={t('currentPassword')}>
      <input name="current_password" type="password" required autocomplete="current-password" />
    </Field>
  )
}
