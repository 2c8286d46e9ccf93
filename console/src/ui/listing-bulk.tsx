// Approves or rejects several listings at once, each in the displayed version, with a minute to undo.
import { useState } from 'preact/hooks'
import { newKey } from '#ui/api.ts'
import { confirm } from '#ui/dialog.tsx'
import { announce } from '#ui/toasts.tsx'
import { request } from '../api.ts'
import type { StoredListing } from '../api-types.ts'
import { t } from '../words.ts'
import { forEachRow, UNDO_MS } from './bulk.tsx'
import { RefusalDialog } from './refusal-dialog.tsx'

interface ListingBulkProps {
  listings: StoredListing[]
  /** called after listings have changed; failed ones remain selected */
  onDone: () => void
}

export function ListingBulk({ listings, onDone }: ListingBulkProps) {
  const [rejecting, setRejecting] = useState(false)
  const [busy, setBusy] = useState(false)
  const decide = async (how: 'approve' | 'reject', body: { reason?: string }) => {
    setBusy(true)
    const done = await forEachRow(listings, ({ id, etag }) =>
      request('POST', `/listings/${id}/${how}`, { json: body as never, idempotencyKey: newKey(), ifMatch: etag }),
    )
    setBusy(false)
    setRejecting(false)
    if (done.length > 0) {
      const undo = { text: t('undo'), run: () => void undoAll(done, onDone), for: UNDO_MS }
      announce(t(how === 'approve' ? 'approvedCount' : 'rejectedCount', { count: done.length }), 'good', undo)
    }
    onDone()
  }
  const approve = async () => {
    const question = { title: t('approveTitle', { count: listings.length }), text: t('approveText'), action: t('approve'), danger: false }
    if (listings.length === 1 || (await confirm(question))) await decide('approve', {})
  }
  return (
    <>
      <button type="button" class="main" disabled={busy} onClick={() => void approve()}>
        {t('approveCount', { count: listings.length })}
      </button>
      <button type="button" class="danger" disabled={busy} onClick={() => setRejecting(true)}>
        {t('rejectCount', { count: listings.length })}
      </button>
      {rejecting && (
        <RefusalDialog
          kind="reject"
          count={listings.length}
          busy={busy}
          error={null}
          onRefuse={(reason) => void decide('reject', { reason })}
          onClose={() => setRejecting(false)}
        />
      )}
    </>
  )
}

async function undoAll(listings: StoredListing[], onDone: () => void): Promise<void> {
  const done = await forEachRow(listings, ({ id }) => request('POST', `/listings/${id}/undo-decision`, { idempotencyKey: newKey() }))
  if (done.length > 0) announce(t('decisionsUndone', { count: done.length }))
  onDone()
}
