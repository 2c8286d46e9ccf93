// Sandboxes: create one and work in it, and move its clock while this tab works in it.
import { useState } from 'preact/hooks'
import { useVersion } from '#ui/data.ts'
import { confirm, Field, Form, type Values } from '#ui/dialog.tsx'
import { Heading } from '#ui/heading.tsx'
import { Await, Empty, Facts, Refusal } from '#ui/states.tsx'
import { Table } from '#ui/table.tsx'
import { instantOf } from '#ui/time-zone.ts'
import { announce } from '#ui/toasts.tsx'
import type { NewSandbox, Sandbox } from '../../../client/src/api.ts'
import { mayWrite, useData, useWrite } from '../api.ts'
import { count, moment, t, termText } from '../words.ts'
import { AdvanceButtons, sandbox } from './clock.tsx'
import { sandboxKey, workIn } from './sandbox-key.ts'

export function SandboxPage() {
  return (
    <>
      <Heading>{t('sandbox')}</Heading>
      <p class="quiet lead">{t('sandboxText')}</p>
      {sandboxKey() === null ? <Sandboxes /> : <Inside />}
    </>
  )
}

function Inside() {
  const { value } = sandbox
  if (!value) return <Empty>{t('loading')}</Empty>
  const { now, starts_at: start, seed, problem, fired, fired_total: total } = value
  return (
    <>
      <Facts
        rows={[
          [t('sandboxNow'), moment(now)],
          [t('sandboxStart'), moment(start)],
          [t('sandboxSeed'), count(seed)],
          ...(problem ? [[t('sandboxProblem'), termText('sandboxProblem', problem)] as [string, string]] : []),
        ]}
      />
      <AdvanceButtons />
      <h2>{t('sandboxFired', { total: count(total) })}</h2>
      {fired.length === 0 ? (
        <Empty>{t('sandboxNothingFired')}</Empty>
      ) : (
        <Table
          caption={t('sandboxFired', { total: count(total) })}
          rows={fired.map((one, row) => ({ ...one, row }))}
          rowKey={({ row }) => row}
          columns={[
            { head: t('sandboxNow'), short: true, cell: ({ at }) => moment(at) },
            { head: t('sandboxAction'), cell: ({ action }) => <code>{action}</code> },
            { head: t('sandboxSubject'), cell: ({ subject, id }) => `${subject} ${id}` },
          ]}
        />
      )}
    </>
  )
}

function Sandboxes() {
  const [version, changed] = useVersion()
  const [created, setCreated] = useState<NewSandbox | null>(null)
  const sandboxes = useData('/sandbox', { version })
  const show = (one: NewSandbox) => {
    setCreated(one)
    changed()
  }
  return (
    <>
      <Await of={sandboxes}>{(rows) => <List rows={rows} onChanged={changed} />}</Await>
      {created ? <Created of={created} /> : <Create onCreated={show} />}
      <EnterKey />
    </>
  )
}

function List({ rows, onChanged }: { rows: Sandbox[]; onChanged: () => void }) {
  const { busy, error, write } = useWrite()
  const remove = async ({ id }: Sandbox) => {
    if (!(await confirm({ title: t('removeSandboxTitle'), text: t('removeSandboxText'), action: t('removeSandbox') }))) return
    if (!(await write('DELETE', `/sandbox/${id}`))) return
    announce(t('sandboxRemoved'))
    onChanged()
  }
  if (rows.length === 0) return <Empty>{t('noSandboxes')}</Empty>
  return (
    <>
      <Refusal error={error} />
      <Table
        caption={t('sandboxes')}
        rows={rows}
        rowKey={({ id }) => id}
        columns={[
          { head: t('key'), cell: ({ last4 }) => <code>…{last4}</code> },
          { head: t('sandboxNow'), cell: ({ now }) => moment(now) },
          { head: t('state'), cell: ({ status }) => termText('sandboxStatus', status) },
          { head: t('sandboxUntil'), cell: ({ removed_after: after }) => moment(after) },
          {
            head: t('actions'),
            cell: (row) => (
              <button type="button" class="danger" disabled={busy || !mayWrite()} onClick={() => void remove(row)}>
                {t('removeSandbox')}
              </button>
            ),
          },
        ]}
      />
    </>
  )
}

function Create({ onCreated }: { onCreated: (created: NewSandbox) => void }) {
  const { busy, error, write } = useWrite()
  const create = async ({ at, seed }: Values) => {
    const reply = await write('POST', '/sandbox', { ...(at && { at: instantOf(at).toISOString() }), ...(seed && { seed: Number(seed) }) })
    if (reply) onCreated(reply.data)
  }
  return (
    <section class="panel settings">
      <h2>{t('newSandbox')}</h2>
      <Form submit={t('createSandbox')} busy={busy || !mayWrite()} error={error} onSubmit={(values) => void create(values)}>
        <div class="pair">
          <Field label={t('sandboxStart')} hint={t('vacationFromHint')}>
            <input name="at" type="datetime-local" />
          </Field>
          <Field label={t('sandboxSeed')} hint={t('sandboxSeedHint')}>
            <input name="seed" type="number" min="0" max="2147483647" defaultValue="1" />
          </Field>
        </div>
      </Form>
    </section>
  )
}

function Created({ of: { key } }: { of: NewSandbox }) {
  return (
    <section class="panel settings">
      <h2>{t('sandboxCreated')}</h2>
      <p>{t('sandboxKeyOnce')}</p>
      <output class="secret">{key}</output>
      <div class="actions">
        <button type="button" class="primary" onClick={() => workIn(key)}>
          {t('workInSandbox')}
        </button>
      </div>
    </section>
  )
}

/** For a sandbox that was created before. */
function EnterKey() {
  return (
    <section class="panel settings">
      <h2>{t('enterSandbox')}</h2>
      <Form submit={t('workInSandbox')} busy={false} error={null} onSubmit={({ key }) => workIn(key!)}>
        <Field label={t('testKey')} hint={t('testKeyHint')}>
          <input name="key" required autocomplete="off" pattern="mintmark_test_[0-9A-Za-z]{49}" />
        </Field>
      </Form>
    </section>
  )
}
