// How many prices are pending a decision: asked again each minute, and on each page.
import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { useVersion } from '#ui/data.ts'
import { useData } from '../api.ts'
import { t } from '../words.ts'

const AGAIN_MS = 60_000
/** More than this is told by the title alone: the badge stands beside a name. */
const MOST = 999

export function PricesWaiting() {
  const { url } = useLocation()
  const [version, again] = useVersion()
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page, after something was decided
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
