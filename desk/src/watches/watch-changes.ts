// Writes of watches besides the forms, and the version of what pages show of them.
import { signal } from '@preact/signals'
import { announce } from '#ui/toasts.tsx'
import type { Watch, WatchInput } from '../../../client/src/api.ts'
import { writeNow } from '../api.ts'
import { HOLD_MS } from '../bulk.ts'
import { t } from '../words.ts'

/** Increases when watches have changed. */
export const watchesVersion = signal(0)

export function watchesChanged(): void {
  watchesVersion.value += 1
}

/** What is watched: a card, or a set of a collection. */
export function watchedName(watch: Watch): string {
  return watch.kind === 'goal_reopened' ? t('setOfCollection', { set: watch.category_name, collection: watch.collection_name }) : watch.item_name
}

/** Deletes a watch, and offers for a while to create it again. */
export async function removeWatch(watch: Watch): Promise<void> {
  const name = watchedName(watch)
  if (!(await writeNow('DELETE', `/plus/watches/${watch.id}`))) return
  announce(t('watchRemoved', { name }), 'good', { text: t('undo'), run: () => void restore(watch), for: HOLD_MS })
  watchesChanged()
}

async function restore(watch: Watch): Promise<void> {
  if (await writeNow('PUT', '/plus/watches', inputOf(watch))) announce(t('recordRestored', { name: watchedName(watch) }))
  watchesChanged()
}

function inputOf(watch: Watch): WatchInput {
  if (watch.kind === 'goal_reopened') {
    const { kind, collection_id, category_id, goal, language } = watch
    return { kind, collection_id, category_id, goal, language }
  }
  const { kind, item_id, label, language, amount, currency } = watch
  return { kind, item_id, label, language, amount, currency }
}
