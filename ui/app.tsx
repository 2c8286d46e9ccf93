// Pages for signed-in people: sign-in until then, the frame around them, and what is on all of them.
import { type ComponentChildren, options, type VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { LocationProvider, Route, Router, useLocation } from 'preact-iso'
import type { SessionStore } from './api.ts'
import { Questions } from './dialog.tsx'
import { Heading } from './heading.tsx'
import { Empty } from './states.tsx'
import { announce, Toasts } from './toasts.tsx'
import { t } from './words.ts'

// Effects run with their rendering, not after the next frame: what is visible already reacts to keys, and requests leave a frame earlier.
options.requestAnimationFrame = queueMicrotask

interface AppProps<Session> {
  /** address below which the pages are */
  scope: string
  store: SessionStore<Session>
  signIn: ComponentChildren
  /** the frame and the pages of who is signed in */
  children: (session: Session) => ComponentChildren
}

export function App<Session>({ scope, store: { session, loadSession }, signIn, children }: AppProps<Session>) {
  const known = session.value
  useEffect(() => {
    loadSession().catch(() => {
      session.value = null
      announce(t('offline'), 'bad')
    })
  }, [loadSession, session])
  if (known === undefined) return null
  return (
    <LocationProvider scope={scope}>
      {known === null ? signIn : children(known)}
      <Questions />
      <Toasts />
    </LocationProvider>
  )
}

interface RoutesProps {
  /** where the pages begin, and what that page is called */
  home: Home
  /** a `Route` for each page */
  children: VNode[]
}

interface Home {
  href: string
  text: string
}

/** The page that the address names. */
export function Routes({ home, children }: RoutesProps) {
  const { path } = useLocation()
  const opened = useRef(path)
  // Another page begins at its top, and the keyboard within it.
  useEffect(() => {
    if (opened.current === path) return
    opened.current = path
    scrollTo(0, 0)
    document.getElementById('content')?.focus({ preventScroll: true })
  }, [path])
  return (
    <Router>
      {children}
      <Route default component={NoPage} home={home} />
    </Router>
  )
}

function NoPage({ home: { href, text } }: { home: Home }) {
  return (
    <>
      <Heading>{t('noPage')}</Heading>
      <Empty>
        <a href={href}>{text}</a>
      </Empty>
    </>
  )
}
