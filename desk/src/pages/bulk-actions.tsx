// Pauses, publishes or deletes the selected listings after one confirmation; failures are reported by title.
import { useState } from 'preact/hooks'
import { type ApiError, newKey } from '#ui/api.ts'
import { asApiError } from '#ui/data.ts'
import { confirm } from '#ui/dialog.tsx'
import { announce } from '#ui/toasts.tsx'
import type { OwnListing } from '../../../client/src/api.ts'
import { request } from '../api.ts'
import { sentence, t } from '../words.ts'

type Action = 'pause' | 'publish' | 'delete'

/** The states in which each action is possible; null for all. */
export const ALLOWED: Record<Action, readonly OwnListing['status'][] | null> = {
  pause: ['active'],
  publish: ['paused', 'expired', 'rejected'],
  delete: null,
}

const WORDS = {
  pause: { button: 'bulkPause', title: 'bulkPauseTitle', text: 'bulkPauseText', verb: 'pause' },
  publish: { button: 'bulkPublish', title: 'bulkPublishTitle', text: 'bulkPublishText', verb: 'publish' },
  delete: { button: 'bulkDelete', title: 'bulkDeleteTitle', text: 'bulkDeleteText', verb: 'delete' },
} as const

/** Requests that run at the same time. */
const AT_ONCE = 4

export interface BulkFailure {
  listing: OwnListing
  error: ApiError
}

interface BulkActionsProps {
  of: OwnListing[]
  /** called after the last request, with the listings that could not be changed */
  onDone: (failures: BulkFailure[]) => void
}

export function BulkActions({ of: listings, onDone }: BulkActionsProps) {
  const [busy, setBusy] = useState(false)
  const run = async (action: Action, chosen: OwnListing[]) => {
    const { title, text, verb } = WORDS[action]
    const question = { title: t(title, { count: chosen.length }), text: t(text), details: <Titles of={chosen} />, action: t(verb) }
    if (!(await confirm({ ...question, danger: action === 'delete' }))) return
    setBusy(true)
    const failures = await changeAll(action, chosen)
    setBusy(false)
    announce(t('bulkDone', { done: chosen.length - failures.length, total: chosen.length }), failures.length > 0 ? 'bad' : 'good')
    onDone(failures)
  }
  return (
    <>
      {(Object.keys(WORDS) as Action[]).map((action) => {
        const chosen = listings.filter(({ status }) => ALLOWED[action]?.includes(status) ?? true)
        return (
          <button
            key={action}
            type="button"
            class={action === 'delete' ? 'danger' : ''}
            disabled={busy || chosen.length === 0}
            onClick={() => void run(action, chosen)}
          >
            {t(WORDS[action].button, { count: chosen.length })}
          </button>
        )
      })}
    </>
  )
}

/** Titles that the confirmation lists. */
const MAX_LISTED = 10

function Titles({ of: listings }: { of: OwnListing[] }) {
  return (
    <ul class="why">
      {listings.slice(0, MAX_LISTED).map(({ id, title }) => (
        <li key={id}>{title}</li>
      ))}
      {listings.length > MAX_LISTED && <li>{t('riskyMore', { count: listings.length - MAX_LISTED })}</li>}
    </ul>
  )
}

async function changeAll(action: Action, listings: readonly OwnListing[]): Promise<BulkFailure[]> {
  const waiting = listings.values()
  const failures: BulkFailure[] = []
  const work = async () => {
    // All workers take from the same iterator.
    for (const listing of waiting) {
      try {
        await changeOne(action, listing)
      } catch (error) {
        failures.push({ listing, error: asApiError(error) })
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return failures
}

/** Applies to the listing as shown. @throws ApiError */
async function changeOne(action: Action, { id, etag }: OwnListing): Promise<void> {
  if (action === 'delete') await request('DELETE', `/plus/listings/${id}`, { ifMatch: etag })
  else await request('POST', `/plus/listings/${id}/status`, { json: { action }, ifMatch: etag, idempotencyKey: newKey() })
}

export function BulkFailures({ of: failures }: { of: readonly BulkFailure[] }) {
  if (failures.length === 0) return null
  return (
    <div class="refusal" role="alert">
      <p>{t('bulkFailed', { count: failures.length })}</p>
      <ul>
        {failures.map(({ listing: { id, title }, error }) => (
          <li key={id}>
            <strong>{title}</strong> {sentence(error)}
          </li>
        ))}
      </ul>
    </div>
  )
}
