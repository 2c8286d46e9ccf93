// The condition or grade of a listing by its id.
import { useNameOf } from '#ui/picker.tsx'
import { t } from '../words.ts'
import { grades } from './sources.ts'

export function Grade({ id }: { id: number | null }) {
  const label = useNameOf(grades, id === null ? '' : String(id))
  if (id === null) return <span class="quiet">{t('notStated')}</span>
  return <>{label ?? '…'}</>
}
