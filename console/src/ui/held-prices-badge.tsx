// Badge with the number of prices pending a decision, polled every minute and on each page.
import { useLocation } from 'preact-iso'
import { useData } from '../api.ts'
import { t } from '../words.ts'

const REFRESH_MS = 60_000
/** Above this, only the title shows the number: the badge has little space. */
const MAX_BADGE_COUNT = 999

export function HeldPricesBadge() {
  // Reloads on each page, because decisions may have been made.
  const { url: version } = useLocation()
  const waiting = useData('/price-reviews/count', { again: () => REFRESH_MS, version }).data
  const prices = waiting ? waiting.held + waiting.disputed : 0
  if (prices === 0) return null
  return (
    <span class="badge" title={t('pricesWaiting', { count: prices })}>
      {prices > MAX_BADGE_COUNT ? `${MAX_BADGE_COUNT}+` : prices} <span class="hidden">{t('pricesWaiting', { count: prices })}</span>
    </span>
  )
}
