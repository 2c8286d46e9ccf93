// Badge with the number of prices pending a decision, polled every minute and on each page.
import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { useVersion } from '#ui/data.ts'
import { useData } from '../api.ts'
import { t } from '../words.ts'

const AGAIN_MS = 60_000
/** Above this, only the title shows the number: the badge has little space. */
const MOST = 999

export function PricesWaiting() {
  const { url } = useLocation()
  const [version, again] = useVersion()
  // biome-ignore lint/correctness/useExhaustiveDependencies: reloads on each page, because decisions may have been made
  useEffect(again, [url])
  const waiting = useData('/price-reviews/count', { again: () => AGAIN_MS, version }).data
  const prices = waiting ? waiting.held + waiting.disputed : 0
  if (prices === 0) return null
  return (
    <span class="badge" title={t('pricesWaiting', { count: prices })}>
      {prices > MOST ? `${MOST}+` : prices} <span class="hidden">{t('pricesWaiting', { count: prices })}</span>
    </span>
  )
}
