// The frame around every page: where one is, where one can go, language, colours, and the way out.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { signOut } from '../api.ts'
import { asApiError, useData, useVersion } from '../data.ts'
import { chooseTheme, THEMES, type Theme, theme } from '../theme.ts'
import { chooseLocale, compact, LOCALES, type Locale, locale, sentence, t, term, type WordKey } from '../words.ts'
import { announce } from './toasts.tsx'

const PLACES: { href: string; word: WordKey; also?: string[] }[] = [
  { href: '/console', word: 'today' },
  { href: '/console/approvals', word: 'approvals' },
  { href: '/console/catalogue', word: 'catalogue', also: ['/console/synonyms'] },
  { href: '/console/matches', word: 'matches', also: ['/console/set-matches'] },
  { href: '/console/price-reviews', word: 'priceReviews', also: ['/console/price-decisions'] },
  { href: '/console/sources', word: 'priceSources' },
  { href: '/console/imports', word: 'imports', also: ['/console/rates'] },
  { href: '/console/dumps', word: 'dumps' },
  { href: '/console/listings', word: 'market', also: ['/console/orders'] },
  { href: '/console/accounts', word: 'accounts', also: ['/console/webhooks'] },
  { href: '/console/audit', word: 'audit' },
]

export function Frame({ operator, children }: { operator: string; children: ComponentChildren }) {
  const { path } = useLocation()
  const within = (place: string) => path === place || (place !== '/console' && path.startsWith(`${place}/`))
  const places = useRef<HTMLElement>(null)
  // On a narrow page the places scroll sideways.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the path says which is current
  useEffect(() => {
    const current = places.current?.querySelector<HTMLElement>('[aria-current]')
    if (current) places.current!.scrollLeft = current.offsetLeft - 60
  }, [path])
  return (
    <div class="frame">
      <a class="skip" href="#content">
        {t('skip')}
      </a>
      <header class="side">
        <a class="brand" href="/console">
          <img src="/console/favicon.svg" alt="" width="24" height="24" /> Mintmark
        </a>
        <nav ref={places} aria-label={t('places')}>
          {PLACES.map(({ href, word, also }) => (
            <a key={href} href={href} aria-current={within(href) || also?.some(within) ? 'page' : undefined}>
              {t(word)}
              {href === '/console/price-reviews' && <Waiting />}
            </a>
          ))}
        </nav>
        <div class="foot">
          <Preferences />
          <div class="who">
            <span title={operator}>{operator.replace(/:\d+$/, '')}</span>
            <button type="button" class="plain" onClick={() => signOut().catch((error: unknown) => announce(sentence(asApiError(error)), 'bad'))}>
              {t('signOut')}
            </button>
          </div>
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
    </div>
  )
}

const AGAIN_MS = 60_000

/** How many prices wait for a decision: asked again each minute, and on each page. */
function Waiting() {
  const { url } = useLocation()
  const [version, again] = useVersion()
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page, after something was decided
  useEffect(again, [url])
  const waiting = useData('/price-reviews/count', { again: () => AGAIN_MS, version }).data
  const prices = waiting ? waiting.held + waiting.disputed : 0
  if (prices === 0) return null
  return (
    <span class="badge" title={t('pricesWaiting', { count: prices })}>
      {compact(prices)} <span class="hidden">{t('pricesWaiting', { count: prices })}</span>
    </span>
  )
}

export function Preferences() {
  return (
    <div class="preferences">
      <label>
        <span class="hidden">{t('language')}</span>
        <select value={locale.value} onChange={(event) => chooseLocale(event.currentTarget.value as Locale)}>
          {Object.entries(LOCALES).map(([code, name]) => (
            <option key={code} value={code} lang={code}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span class="hidden">{t('colours')}</span>
        <select value={theme.value} onChange={(event) => chooseTheme(event.currentTarget.value as Theme)}>
          {THEMES.map((code) => (
            <option key={code} value={code}>
              {term('theme', code)}
            </option>
          ))}
        </select>
      </label>
    </div>
  )
}

/** Pages that belong together. */
export function Tabs({ tabs }: { tabs: { href: string; text: string; current: boolean }[] }) {
  return (
    <nav class="tabs" aria-label={t('views')}>
      {tabs.map(({ href, text, current }) => (
        <a key={href} href={href} aria-current={current ? 'page' : undefined}>
          {text}
        </a>
      ))}
    </nav>
  )
}
