// One act on several rows of a list that were chosen: one request for each, and what was refused is told once.
import { useState } from 'preact/hooks'
import { asApiError } from '#ui/data.ts'
import type { ApiError } from '#ui/api.ts'
import { announce } from '#ui/toasts.tsx'
import { count, sentence, t } from '../words.ts'

/** How long undoing is offered: the service takes a decision about a listing back within a minute. */
export const UNDO_MS = 55_000

/** One row after the other; refusals are announced with the last of them. @returns the rows that were not refused */
export async function each<Row>(rows: readonly Row[], run: (row: Row) => Promise<unknown>): Promise<Row[]> {
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
  /** what a press does; the button waits for it */
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
