// What a save would lead to, from the service's dry run: the next state, whether buyers see the listing, and how long approval takes.
import { Status } from '#ui/states.tsx'
import type { ListingForecast } from '../../../client/src/api.ts'
import { duration, fieldName, t } from '../words.ts'

export function ForecastNote({ of: { status, hidden, because, usual_wait: wait } }: { of: ListingForecast }) {
  const hours = wait.p50_hours !== null && wait.p90_hours !== null ? [wait.p50_hours, wait.p90_hours] : null
  return (
    <div class="forecast" role="status">
      <p>
        {t('afterSaving')} <Status code={status} /> {t(hidden ? 'hiddenThen' : 'visibleThen')}
      </p>
      {because.length > 0 && <p class="quiet">{t('becauseOf', { fields: because.map(fieldName).join(', ') })}</p>}
      {status === 'pending' && (
        <p class="quiet">{hours ? t('usualWait', { half: duration(hours[0]!), most: duration(hours[1]!) }) : t('noUsualWait')}</p>
      )}
    </div>
  )
}
