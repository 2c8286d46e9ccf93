// The button that watches a goal of a collection, or the sentence that it is watched.
import { Refusal } from '#ui/states.tsx'
import { announce } from '#ui/toasts.tsx'
import type { GoalWatch } from '../../../client/src/api.ts'
import { mayWrite, useData, useWrite } from '../api.ts'
import { t } from '../words.ts'
import { watchedName, watchesChanged, watchesVersion } from './watch-changes.ts'

/** No account has more of this kind. */
const MAX_GOALS = 100

interface WatchGoalProps extends Pick<GoalWatch, 'goal' | 'language'> {
  collectionId: number
  categoryId: number
}

export function WatchGoal({ collectionId, categoryId, goal, language }: WatchGoalProps) {
  const kind = 'goal_reopened'
  const { busy, error, write } = useWrite()
  const watches = useData('/plus/watches', { query: { kind, collection_id: collectionId, per_page: MAX_GOALS }, version: watchesVersion.value })
  const isWatched = watches.data?.some(
    (watch) => watch.kind === kind && watch.category_id === categoryId && watch.goal === goal && watch.language === language.toLowerCase(),
  )
  const save = async () => {
    const saved = await write('PUT', '/plus/watches', { kind, collection_id: collectionId, category_id: categoryId, goal, language })
    if (!saved) return
    announce(t('watchSaved', { name: watchedName(saved.data[0]!) }))
    watchesChanged()
  }
  if (!watches.data) return null
  if (isWatched) {
    return (
      <p class="quiet">
        {t('goalWatched')} <a href="/desk/watches">{t('watches')}</a>
      </p>
    )
  }
  if (!mayWrite()) return null
  return (
    <>
      {error && <Refusal error={error} />}
      <p>
        <button type="button" disabled={busy} onClick={() => void save()}>
          {t('watchGoal')}
        </button>
      </p>
    </>
  )
}
