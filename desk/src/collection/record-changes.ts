// Records being removed, held back for a while because nothing restores a removed one; and the version of what pages show of records.
import { effect, signal } from '@preact/signals'
import { asApiError } from '#ui/data.ts'
import { announce } from '#ui/toasts.tsx'
import { request, sessions } from '../api.ts'
import { HOLD_MS } from '../bulk.ts'
import { sentence, t } from '../words.ts'

export interface Removal {
  collectionId: number
  recordId: number
  name: string
}

/** In the order in which they were requested. */
export const removals = signal<readonly Removal[]>([])
/** Increases when records have changed. */
export const recordsVersion = signal(0)

const timers = new Map<number, ReturnType<typeof setTimeout>>()

// Removals belong to the signed-in account.
effect(() => {
  if (sessions.session.value !== null) return
  for (const timer of timers.values()) clearTimeout(timer)
  timers.clear()
  removals.value = []
})

addEventListener('pagehide', () => void runRemovals(true))

export function recordsChanged(): void {
  recordsVersion.value += 1
}

/** Removes a record after a while, or when the page is left. */
export function holdRemoval(removal: Removal): void {
  if (timers.has(removal.recordId)) return
  removals.value = [...removals.value, removal]
  timers.set(
    removal.recordId,
    setTimeout(() => void run(removal), HOLD_MS),
  )
}

export function undoRemoval({ recordId }: Removal): void {
  clearTimeout(timers.get(recordId))
  timers.delete(recordId)
  removals.value = removals.value.filter((one) => one.recordId !== recordId)
}

/** Removes at once what is held back. @param leaving whether the page is being closed: the browser then still sends the requests */
export async function runRemovals(leaving = false): Promise<void> {
  await Promise.all(removals.value.map((removal) => run(removal, leaving)))
}

async function run(removal: Removal, keepalive = false): Promise<void> {
  const { collectionId, recordId, name } = removal
  undoRemoval(removal)
  try {
    await request('DELETE', `/plus/collections/${collectionId}/items/${recordId}`, { keepalive })
    announce(t('recordRemoved', { name }))
  } catch (error) {
    announce(`${name}: ${sentence(asApiError(error))}`, 'bad')
  }
  recordsChanged()
}
