// The frame around every page: navigation, language, colours, and sign-out.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { asApiError } from './data.ts'
import { type SearchRecords, Palette, PaletteButton } from './palette.tsx'
import { Icon } from './icon.tsx'
import { chooseTheme, THEMES, type Theme, theme } from './theme.ts'
import { announce } from './toasts.tsx'
import { chooseLocale, LOCALES, type Locale, locale, sentence, t, termText } from './words.ts'

export interface NavItem {
  href: string
  text: string
  /** addresses of further pages that belong to it */
  also?: string[]
  /** guide and section about it, such as `selling#renewal` */
  help: string
  /** shown next to its name, such as the number of pending entries */
  badge?: ComponentChildren
}

interface FrameProps {
  /** navigation; the first entry is the start page */
  places: NavItem[]
  /** Lucide icons by address */
  icons: Record<string, string>
  /** name of the signed-in person */
  who: string
  signOut: () => Promise<void>
  /** search for Ctrl-K, in addition to the navigation */
  find?: SearchRecords
  /** link to the notifications */
  bell?: ComponentChildren
  children: ComponentChildren
}

export function Frame({ places, icons, who, signOut, find, bell, children }: FrameProps) {
  const { path } = useLocation()
  const home = places[0]!.href
  // A place above others, such as `/desk` above `/desk/orders`, has only its own address and those in `also`.
  const isAbove = (place: string) => places.some(({ href }) => href.startsWith(`${place}/`))
  const within = (place: string) => path === place || (!isAbove(place) && path.startsWith(`${place}/`))
  const current = places.find(({ href, also }) => within(href) || also?.some(within)) ?? places[0]!
  const nav = useCurrentInView(path)
  return (
    <div class="frame">
      <a class="skip" href="#content">
        {t('skip')}
      </a>
      <header class="side">
        <div class="top">
          <a class="brand" href={home}>
            <Logo size={24} /> Mintmark
          </a>
          {bell}
        </div>
        {find && <PaletteButton />}
        <nav ref={nav} aria-label={t('places')}>
          {places.map(({ href, text, also, badge }) => (
            <a key={href} href={href} aria-current={within(href) || also?.some(within) ? 'page' : undefined}>
              {icons[href] && <Icon of={icons[href]} />}
              {text}
              {badge}
            </a>
          ))}
        </nav>
        <div class="foot">
          <Preferences />
          <div class="who">
            <span title={who}>{who}</span>
            <a class="help" href={`/docs/guides/${current.help}`} target="_blank" rel="noopener">
              {t('help')}
            </a>
            <button type="button" class="plain" onClick={() => signOut().catch((error: unknown) => announce(sentence(asApiError(error)), 'bad'))}>
              {t('signOut')}
            </button>
          </div>
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        <p class="letterhead">Mintmark · {who}</p>
        {children}
      </main>
      {find && <Palette places={places} find={find} />}
    </div>
  )
}

export function Logo({ size }: { size: number }) {
  return <img src={`${import.meta.env.BASE_URL}favicon.svg`} alt="" width={size} height={size} />
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
              {termText('theme', code)}
            </option>
          ))}
        </select>
      </label>
    </div>
  )
}

/**
 * Keeps the current link centred in a row of links that scrolls sideways on narrow screens.
 * @param current identifies the current link
 */
function useCurrentInView(current: string | undefined) {
  const row = useRef<HTMLElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: `current` determines what is shown
  useEffect(() => {
    const { current: links } = row
    const link = links?.querySelector<HTMLElement>('[aria-current]')
    if (links && link) links.scrollLeft = link.offsetLeft - links.offsetLeft - (links.clientWidth - link.offsetWidth) / 2
  }, [current])
  return row
}

/** Tabs for related pages. */
export function Tabs({ tabs }: { tabs: { href: string; text: string; current: boolean }[] }) {
  const row = useCurrentInView(tabs.find(({ current }) => current)?.href)
  return (
    <nav ref={row} class="tabs" aria-label={t('views')}>
      {tabs.map(({ href, text, current }) => (
        <a key={href} href={href} aria-current={current ? 'page' : undefined}>
          {text}
        </a>
      ))}
    </nav>
  )
}
