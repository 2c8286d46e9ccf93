// The columns and actions of watches in tables.
import type { Column } from '#ui/list-parts.ts'
import type { ItemWatch, Watch } from '../../../client/src/api.ts'
import { mayWrite } from '../api.ts'
import { calendarDay, language, money, t, termText } from '../words.ts'
import { removeWatch, watchedName } from './watch-changes.ts'

/** @param edit opens the form of a watch */
export function watchColumns(edit: (watch: ItemWatch) => void): Column<Watch>[] {
  return [
    { head: t('watchFor'), name: 'kind', cell: ({ kind }) => termText('watchKind', kind) },
    {
      head: t('grade'),
      name: 'label',
      cell: (watch) => [conditionOf(watch), watch.language && watch.language !== 'any' && language(watch.language)].filter(Boolean).join(' · '),
    },
    {
      head: t('watchAmount'),
      name: 'amount',
      number: true,
      cell: (watch) => (watch.kind === 'goal_reopened' ? '–' : money(watch.amount, watch.currency)),
    },
    { head: t('lastTold'), name: 'told', short: true, cell: ({ told_on: day }) => (day === null ? t('never') : calendarDay(day)) },
    ...(mayWrite() ? [{ head: t('actions'), name: 'actions', cell: (watch: Watch) => <Actions of={watch} onEdit={edit} /> }] : []),
  ]
}

/** Condition or grade, or which cards of a set count. */
function conditionOf(watch: Watch): string {
  return watch.kind === 'goal_reopened' ? termText('goal', watch.goal) : (watch.label ?? t('anyLabel'))
}

function Actions({ of: watch, onEdit }: { of: Watch; onEdit: (watch: ItemWatch) => void }) {
  const name = watchedName(watch)
  return (
    <span class="buttons tight">
      {watch.kind !== 'goal_reopened' && (
        <button type="button" aria-label={`${t('edit')}: ${name}`} onClick={() => onEdit(watch)}>
          {t('edit')}
        </button>
      )}
      <button type="button" class="danger" aria-label={`${t('remove')}: ${name}`} onClick={() => void removeWatch(watch)}>
        {t('remove')}
      </button>
    </span>
  )
}
