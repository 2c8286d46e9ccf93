// Suspends or resumes several accounts at once; a suspension can be undone from its message.
import { confirm } from '#ui/dialog.tsx'
import { announce } from '#ui/toasts.tsx'
import { request } from '../api.ts'
import type { Account } from '../api-types.ts'
import { count, t } from '../words.ts'
import { BulkButton, forEachRow, UNDO_MS } from './bulk.tsx'

interface AccountBulkProps {
  accounts: Account[]
  /** called after accounts have changed */
  onDone: () => void
}

export function AccountBulk({ accounts, onDone }: AccountBulkProps) {
  const [open, suspended] = [accounts.filter((account) => !account.suspended), accounts.filter((account) => account.suspended)]
  const resume = async (rows: Account[]) => {
    const done = await forEachRow(rows, ({ id }) => request('PATCH', `/accounts/${id}`, { json: { suspended: false } }))
    if (done.length > 0) announce(t('resumedCount', { count: done.length }))
    onDone()
  }
  const suspend = async () => {
    const action = t('suspendCount', { count: count(open.length) })
    if (!(await confirm({ title: t('suspendAllTitle', { count: open.length }), text: t('suspendAllText'), action }))) return
    const done = await forEachRow(open, ({ id }) => request('PATCH', `/accounts/${id}`, { json: { suspended: true } }))
    const undo = { text: t('undo'), run: () => void resume(done), for: UNDO_MS }
    if (done.length > 0) announce(t('suspendedCount', { count: done.length }), 'good', undo)
    onDone()
  }
  return (
    <>
      {open.length > 0 && <BulkButton text={t('suspendCount', { count: open.length })} class="danger" run={suspend} />}
      {suspended.length > 0 && <BulkButton text={t('resumeCount', { count: suspended.length })} run={() => resume(suspended)} />}
    </>
  )
}
