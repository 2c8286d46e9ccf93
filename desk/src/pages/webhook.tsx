// The seller's webhook: URL and events, secret, tests and receiver check, and the log of attempts.
import { useRef, useState } from 'preact/hooks'
import { useVersion } from '#ui/data.ts'
import { Field, Form, type Values } from '#ui/dialog.tsx'
import { Heading } from '#ui/heading.tsx'
import { Await, Refusal, Status } from '#ui/states.tsx'
import { Table } from '#ui/table.tsx'
import { announce } from '#ui/toasts.tsx'
import type { Webhook, WebhookCheck, WebhookLog } from '../../../client/src/api.ts'
import { List, mayWrite, useData, useWrite } from '../api.ts'
import { count, moment, t, termText } from '../words.ts'

const SOON_MS = 2_000

export function WebhookPage() {
  const webhook = useData('/plus/webhook')
  const { data, loading, error, reload } = webhook
  return (
    <>
      <Heading>{t('webhook')}</Heading>
      <p class="quiet lead">{t('webhookText')}</p>
      {loading || error || data ? (
        <Await of={webhook}>{(row) => <Settings key={row?.url} of={row} onSaved={reload} />}</Await>
      ) : (
        <Settings of={null} onSaved={reload} />
      )}
      {data && <Deliveries />}
    </>
  )
}

function Settings({ of: webhook, onSaved }: { of: Webhook | null; onSaved: () => void }) {
  const { busy, error, write } = useWrite()
  const save = async ({ url, on_sale, on_expire, is_active }: Values) => {
    const switched = { on_sale: on_sale !== undefined, on_expire: on_expire !== undefined, is_active: is_active !== undefined }
    if (!(await write('PUT', '/plus/webhook', { url: url!, ...switched }))) return
    announce(t('webhookSaved'))
    onSaved()
  }
  return (
    <section class="panel settings">
      <Form submit={t('save')} busy={busy || !mayWrite()} error={error} onSubmit={(values) => void save(values)}>
        <Field label={t('address')} hint={t('webhookAddressHint')}>
          <input name="url" type="url" required defaultValue={webhook?.url} placeholder="https://shop.example/hooks/mintmark" />
        </Field>
        <Switch name="on_sale" text={t('onSale')} on={webhook?.on_sale ?? true} />
        <Switch name="on_expire" text={t('onExpire')} on={webhook?.on_expire ?? true} />
        <Switch name="is_active" text={t('isActive')} on={webhook?.is_active ?? true} />
      </Form>
      {webhook?.secret != null && <WebhookSecret value={webhook.secret} />}
    </section>
  )
}

/** Only in the page while it is shown. */
function WebhookSecret({ value }: { value: string }) {
  const [open, setOpen] = useState(false)
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t('showSecret')}</summary>
      <p class="quiet">{t('secretText')}</p>
      {open && <output class="secret">{value}</output>}
    </details>
  )
}

function Switch({ name, text, on }: { name: string; text: string; on: boolean }) {
  return (
    <label class="check">
      <input type="checkbox" name={name} defaultChecked={on} /> {text}
    </label>
  )
}

function Deliveries() {
  const { busy, error, write } = useWrite()
  const [checks, setChecks] = useState<WebhookCheck[] | null>(null)
  const [version, changed] = useVersion()
  const latest = useRef(0)
  /** the newest attempt when a test was queued: the log is polled until there is a newer one */
  const awaited = useRef<number | null>(null)
  const test = async (event: string) => {
    awaited.current = latest.current
    if (!(await write('POST', '/plus/webhook/test', { event }))) return
    announce(t('testQueued'))
    changed()
  }
  const check = async () => {
    setChecks(null)
    const checked = await write('POST', '/plus/webhook/check')
    if (checked) setChecks(checked.data.checks)
    changed()
  }
  const again = (rows: WebhookLog[]) => {
    latest.current = rows[0]?.id ?? 0
    return awaited.current === latest.current ? SOON_MS : null
  }
  return (
    <section>
      <h2>{t('deliveries')}</h2>
      <Refusal error={error} />
      {busy && <p aria-live="polite">{t('checking')}</p>}
      {checks && <Checks of={checks} />}
      <List
        path="/plus/webhook/logs"
        caption={t('deliveries')}
        empty={t('noAttempts')}
        version={version}
        again={again}
        actions={
          mayWrite() && (
            <>
              <button type="button" disabled={busy} onClick={() => void test('sale')}>
                {t('testSale')}
              </button>
              <button type="button" disabled={busy} onClick={() => void test('expire')}>
                {t('testExpire')}
              </button>
              <button type="button" disabled={busy} onClick={() => void check()}>
                {t('checkReceiver')}
              </button>
            </>
          )
        }
        rowKey={(attempt) => attempt.id}
        columns={[
          { head: t('when'), short: true, cell: (attempt) => moment(attempt.created_at) },
          { head: t('event'), cell: (attempt) => <Event of={attempt} /> },
          { head: t('attempt'), number: true, cell: (attempt) => count(attempt.attempt) },
          { head: t('state'), cell: (attempt) => <Status code={attempt.success ? 'delivered' : 'failed'} /> },
          { head: t('answer'), cell: (attempt) => <Answer of={attempt} /> },
        ]}
      />
    </section>
  )
}

function Event({ of: { event, mark } }: { of: WebhookLog }) {
  return (
    <>
      {termText('event', event)} {mark && <span class="quiet">{termText('mark', mark)}</span>}
    </>
  )
}

function Answer({ of: { status_code: status, error, response_excerpt: excerpt, id } }: { of: WebhookLog }) {
  const text = status ?? termText('attempt', error ?? '')
  if (excerpt === '') return <>{text}</>
  return (
    <details>
      <summary aria-label={t('answerOf', { id: String(id), answer: String(text) })}>{text}</summary>
      <pre>{excerpt}</pre>
    </details>
  )
}

function Checks({ of: checks }: { of: WebhookCheck[] }) {
  return (
    <div class="checks" role="status">
      <p>{checks.every(({ ok }) => ok) ? t('checksPassed') : t('checksFailed', { count: checks.filter(({ ok }) => !ok).length })}</p>
      <Table
        caption={t('checkReceiver')}
        rows={checks}
        rowKey={(check) => check.name}
        columns={[
          { head: t('check'), cell: (check) => termText('check', check.name) },
          { head: t('state'), cell: (check) => <Status code={check.ok ? 'passed' : 'failed'} /> },
          { head: t('expected'), cell: (check) => termText('expected', check.expected) },
          { head: t('got'), cell: (check) => resultText(check.got) },
          { head: t('howToFix'), cell: (check) => check.fix && termText('fix', check.fix) },
        ]}
      />
    </div>
  )
}

/** A response with its duration, or why there is none. */
function resultText(got: string): string {
  const answered = /^(\d{3}) after (\d{1,9}) ms$/.exec(got)
  return answered ? t('gotAfter', { status: answered[1]!, ms: answered[2]! }) : termText('attempt', got)
}
