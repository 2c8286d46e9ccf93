// An action on several selected rows: one request for each, with one message for all failures.
import { useState } from 'preact/hooks'
import { asApiError } from '#ui/data.ts'
import type { ApiError } from '#ui/api.ts'
import { announce } from '#ui/toasts.tsx'
import { count, sentence, t } from '../words.ts'

/** How long undo is offered: the service undoes a decision about a listing only within a minute. */
export const UNDO_MS = 55_000

/** Processes row after row; failures are announced with the last one. @returns the rows that succeeded */
export async function forEachRow<Row>(rows: readonly Row[], run: (row: Row) => Promise<unknown>): Promise<Row[]> {
  const done: Row[] = []
  let failure: ApiError | null = null
  for (const row of rows) {
    try {
      await run(row)
      done.push(row)
    } catch (error) {
      failure = asApiError(error)
    }
  }
  if (failure) announce(t('bulkFailed', { count: count(rows.length - done.length), why: sentence(failure) }), 'bad')
  return done
}

interface BulkButtonProps {
  text: string
  class?: string
  /** runs on click; the button is busy until it resolves */
  run: () => Promise<void>
}

export function BulkButton({ text, class: name, run }: BulkButtonProps) {
  const [busy, setBusy] = useState(false)
  const press = async () => {
    setBusy(true)
    await run()
    setBusy(false)
  }
  return (
    <button type="button" class={name} disabled={busy} onClick={() => void press()}>
      {text}
    </button>
  )
}
