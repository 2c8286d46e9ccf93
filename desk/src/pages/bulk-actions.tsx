// The buttons that pause, publish, renew or delete the selected listings, and what they ask before.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { asApiError } from '#ui/data.ts'
import { confirm } from '#ui/dialog.tsx'
import { announce } from '#ui/toasts.tsx'
import type { OwnListing } from '../../../client/src/api.ts'
import { request } from '../api.ts'
import { ALLOWED, startBulk } from '../bulk.ts'
import { sentence, t } from '../words.ts'

type Action = keyof typeof ALLOWED

const BUTTONS = { pause: 'bulkPause', publish: 'bulkPublish', renew: 'bulkRenew', delete: 'bulkDelete' } as const

interface BulkActionsProps {
  of: OwnListing[]
  /** called once the action runs or is held back */
  onStarted: () => void
}

export function BulkActions({ of: listings, onStarted }: BulkActionsProps) {
  const [busy, setBusy] = useState(false)
  const run = async (action: Action, chosen: OwnListing[]) => {
    setBusy(true)
    const isConfirmed = await ASK[action](chosen)
    if (isConfirmed)
      await startBulk(
        action,
        chosen.map((listing) => ({ listing })),
      )
    setBusy(false)
    if (isConfirmed) onStarted()
  }
  return (
    <>
      {(Object.keys(BUTTONS) as Action[]).map((action) => {
        const chosen = listings.filter(({ status }) => ALLOWED[action]?.includes(status) ?? true)
        return (
          <button
            key={action}
            type="button"
            class={action === 'delete' ? 'danger' : ''}
            disabled={busy || chosen.length === 0}
            onClick={() => void run(action, chosen)}
          >
            {t(BUTTONS[action], { count: chosen.length })}
          </button>
        )
      })}
    </>
  )
}

/** What an action asks before: nothing if its undo restores everything. Resolves with whether to go on. */
const ASK: Record<Action, (chosen: OwnListing[]) => boolean | Promise<boolean>> = {
  pause: () => true,
  publish: (chosen) => {
    // Publishing a paused listing is undone by pausing it; an approval cannot be withdrawn.
    const unpublished = chosen.filter(({ status }) => status !== 'paused')
    return unpublished.length === 0 || ask('publish', t('bulkPublishTitle', { count: chosen.length }), t('bulkPublishText'), unpublished)
  },
  renew: async (chosen) => {
    const json = { ids: chosen.map(({ id }) => id), dry_run: true }
    const forecast = await request('POST', '/plus/listings/renew', { json }).catch(asApiError)
    if (forecast instanceof Error) {
      announce(sentence(forecast), 'bad')
      return false
    }
    const unapproved = new Set(forecast.data.flatMap(({ id, refused, status }) => (refused === null && status === 'pending' ? [id] : [])))
    const changed = chosen.filter(({ id }) => unapproved.has(id))
    return changed.length === 0 || ask('renew', t('bulkRenewTitle', { count: chosen.length }), t('bulkRenewText'), changed)
  },
  delete: (chosen) => ask('delete', t('bulkDeleteTitle', { count: chosen.length }), t('bulkDeleteText'), chosen),
}

function ask(action: Exclude<Action, 'pause'>, title: string, text: string, about: OwnListing[]): Promise<boolean> {
  return confirm({ title, text, details: <Titles of={about} />, action: t(action), danger: action === 'delete' })
}

/** Titles that the confirmation lists. */
const MAX_LISTED = 10

function Titles({ of: listings }: { of: OwnListing[] }): ComponentChildren {
  return (
    <ul class="why">
      {listings.slice(0, MAX_LISTED).map(({ id, title }) => (
        <li key={id}>{title}</li>
      ))}
      {listings.length > MAX_LISTED && <li>{t('riskyMore', { count: listings.length - MAX_LISTED })}</li>}
    </ul>
  )
}
