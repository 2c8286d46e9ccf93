// Decides several listings of a list at once: approves or rejects them, each as it was shown, with a minute to undo it.
import { useState } from 'preact/hooks'
import { type ApiError, newKey } from '#ui/api.ts'
import { asApiError } from '#ui/data.ts'
import { confirmed } from '#ui/dialog.tsx'
import { announce } from '#ui/toasts.tsx'
import { request } from '../api.ts'
import type { StoredListing } from '../api-types.ts'
import { count, sentence, t } from '../words.ts'
import { RefusalDialog } from './refusal-dialog.tsx'

/** The service takes a decision back within a minute. */
const UNDO_MS = 55_000

interface ListingBulkProps {
  listings: StoredListing[]
  /** the listings have changed; what is left to choose is what failed */
  onDone: () => void
}

export function ListingBulk({ listings, onDone }: ListingBulkProps) {
  const [rejecting, setRejecting] = useState(false)
  const [busy, setBusy] = useState(false)
  const decide = async (how: 'approve' | 'reject', body: { reason?: string }) => {
    setBusy(true)
    const { done, failure } = await each(listings, ({ id, etag }) =>
      request('POST', `/listings/${id}/${how}`, { json: body as never, idempotencyKey: newKey(), ifMatch: etag }),
    )
    setBusy(false)
    setRejecting(false)
    if (failure) announce(failureText(listings.length - done.length, failure), 'bad')
    if (done.length > 0) {
      const undo = { text: t('undo'), run: () => void undoAll(done, onDone), for: UNDO_MS }
      announce(t(how === 'approve' ? 'approvedCount' : 'rejectedCount', { count: done.length }), 'good', undo)
    }
    onDone()
  }
  const approve = async () => {
    const asked = { title: t('approveTitle', { count: listings.length }), text: t('approveText'), action: t('approve'), danger: false }
    if (listings.length === 1 || (await confirmed(asked))) await decide('approve', {})
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
  const { done, failure } = await each(listings, ({ id }) => request('POST', `/listings/${id}/undo-decision`, { idempotencyKey: newKey() }))
  if (failure) announce(failureText(listings.length - done.length, failure), 'bad')
  if (done.length > 0) announce(t('decisionsUndone', { count: done.length }))
  onDone()
}

/** One after the other; those that were refused are told by the last refusal. */
async function each(listings: StoredListing[], run: (listing: StoredListing) => Promise<unknown>) {
  const done: StoredListing[] = []
  let failure: ApiError | null = null
  for (const listing of listings) {
    try {
      await run(listing)
      done.push(listing)
    } catch (error) {
      failure = asApiError(error)
    }
  }
  return { done, failure }
}

function failureText(failed: number, failure: ApiError): string {
  return t('bulkFailed', { count: count(failed), why: sentence(failure) })
}
