// Notices of infringement, the most urgent first: each is decided by hiding the listing or keeping it.
import { useState } from 'preact/hooks'
import { newKey } from '#ui/api.ts'
import { useVersion } from '#ui/data.ts'
import { Dialog, Field, Form, type Values } from '#ui/dialog.tsx'
import { Picker } from '#ui/picker.tsx'
import { Facts } from '#ui/states.tsx'
import { useFilters } from '#ui/table.tsx'
import { announce } from '#ui/toasts.tsx'
import { isAllowed, request, useData, useWrite } from '../api.ts'
import type { Notice } from '../api-types.ts'
import { noticeStateValues as STATES } from '../api-values.ts'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { type Act, ActButtons, QueuePage, useDecisions, useSequentialWrites } from '../ui/queue.tsx'
import { listings } from '../ui/sources.ts'
import { moment, t, termText } from '../words.ts'
import { ApprovalTabs } from './approval-rules.tsx'

const SHOWN = 25
type Decision = 'hide' | 'keep'

export function NoticesPage() {
  const filters = useFilters([
    { name: 'state', label: t('state'), options: STATES.map((code) => ({ value: code, text: termText('noticeState', code) })), always: true },
  ])
  const [version, changed] = useVersion()
  const writes = useSequentialWrites()
  const query = { state: 'received', ...filters.values, page: filters.page, per_page: SHOWN }
  const loaded = useData('/notices', { query, paused: writes.applying > 0, version })
  const queue = useDecisions(
    loaded,
    writes,
    (row) => row.id,
    (row) => row.title ?? t('listingDeleted'),
  )
  const { current } = queue
  const [deciding, setDeciding] = useState<Decision | null>(null)
  const [recording, setRecording] = useState(false)
  const decide = (decision: Decision, note: string) => {
    setDeciding(null)
    const { id } = current!
    const idempotencyKey = newKey()
    queue.decide(current!, async () => {
      await request('POST', `/notices/${id}/decide`, { json: { decision, note }, idempotencyKey })
      return t(`noticeDone.${decision}`, { id: String(id) })
    })
  }
  const acts: Act[] = [
    { key: 'h', text: t('noticeHide'), class: 'danger', run: () => setDeciding('hide') },
    { key: 'e', text: t('noticeKeep'), run: () => setDeciding('keep') },
  ]
  queue.onKey(({ key }) => (current?.state === 'received' && isAllowed('market') ? acts.find((act) => act.key === key)?.run : undefined))
  return (
    <>
      <QueuePage
        of={queue}
        filters={filters}
        title={t('notices')}
        need="market"
        tabs={<ApprovalTabs current="notices" />}
        actions={
          <PermittedButton need="market" class="main" onClick={() => setRecording(true)}>
            {t('noticeRecord')}
          </PermittedButton>
        }
        keys={t('noticeKeys')}
        empty={t('noNotices')}
        line={(row) => (
          <>
            <span>{row.title ?? t('listingDeleted')}</span>
            <small>
              {row.right} · {row.overdue ? t('noticeOverdue') : t('noticeDue', { at: moment(row.due_at) })}
            </small>
          </>
        )}
      >
        {(row) => <Shown of={row} acts={row.state === 'received' ? acts : []} />}
      </QueuePage>
      {deciding && current && <DecisionDialog decision={deciding} onDecide={(note) => decide(deciding, note)} onClose={() => setDeciding(null)} />}
      {recording && (
        <RecordDialog
          onClose={(saved) => {
            setRecording(false)
            if (saved) changed()
          }}
        />
      )}
    </>
  )
}

function Shown({ of: row, acts }: { of: Notice; acts: Act[] }) {
  return (
    <>
      <div class="buttons">
        <ActButtons need="market" acts={acts} />
      </div>
      <Facts
        rows={[
          [
            t('listing'),
            row.listing === null ? (
              t('listingDeleted')
            ) : (
              <a key="listing" href={`/console/listings/${row.listing}`}>
                {row.title}
              </a>
            ),
          ],
          [
            t('seller'),
            <a key="seller" href={`/console/accounts/${row.seller_id}`}>
              {String(row.seller_id)}
            </a>,
          ],
          [t('noticeWho'), row.who],
          [t('noticeRight'), row.right],
          [t('noticeEvidence'), row.evidence],
          [t('noticeReceived'), moment(row.received_at)],
          [t('noticeDueAt'), row.overdue ? `${moment(row.due_at)} · ${t('noticeOverdue')}` : moment(row.due_at)],
          [t('state'), termText('noticeState', row.state)],
          ...(row.decided_at === null
            ? []
            : [[t('decision'), `${row.note ?? ''} · ${row.decided_by} · ${moment(row.decided_at)}`] as [string, string]]),
        ]}
      />
    </>
  )
}

function DecisionDialog({ decision, onDecide, onClose }: { decision: Decision; onDecide: (note: string) => void; onClose: () => void }) {
  return (
    <Dialog title={t(decision === 'hide' ? 'noticeHide' : 'noticeKeep')} onClose={onClose}>
      <Form
        submit={t(decision === 'hide' ? 'noticeHide' : 'noticeKeep')}
        danger={decision === 'hide'}
        busy={false}
        error={null}
        onSubmit={({ note }) => onDecide(note!)}
        onCancel={onClose}
      >
        <Field label={t('reason')} {...(decision === 'hide' && { hint: t('reasonHint') })}>
          <textarea name="note" rows={3} required maxLength={200} />
        </Field>
      </Form>
    </Dialog>
  )
}

function RecordDialog({ onClose }: { onClose: (saved: boolean) => void }) {
  const { busy, error, write } = useWrite()
  const submit = async ({ listing, who, right, evidence }: Values) => {
    if (!(await write('POST', '/notices', { listing: Number(listing), who: who!, right: right!, evidence: evidence! }))) return
    announce(t('saved'))
    onClose(true)
  }
  return (
    <Dialog title={t('noticeRecord')} onClose={() => onClose(false)}>
      <Form submit={t('save')} busy={busy} error={error} onSubmit={(values) => void submit(values)} onCancel={() => onClose(false)}>
        <Picker label={t('listing')} name="listing" source={listings} required />
        <Field label={t('noticeWho')} hint={t('noticeWhoHint')}>
          <input name="who" required maxLength={200} />
        </Field>
        <Field label={t('noticeRight')}>
          <input name="right" required maxLength={200} />
        </Field>
        <Field label={t('noticeEvidence')}>
          <textarea name="evidence" rows={4} required maxLength={4000} />
        </Field>
      </Form>
    </Dialog>
  )
}
