// Pages behind a sign-in: the sign-in form, the frame around the pages, and the parts shown on all of them.
import { effect } from '@preact/signals'
import { type ComponentChildren, options, type VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { LocationProvider, Route, Router, useLocation } from 'preact-iso'
import type { SessionStore } from './api.ts'
import { ConfirmationDialog } from './dialog.tsx'
import { Heading } from './heading.tsx'
import { Empty } from './states.tsx'
import { announce, Toasts } from './toasts.tsx'
import { locale, t } from './words.ts'

effect(() => {
  document.documentElement.lang = locale.value
})

// Runs effects with the rendering instead of after the next frame: visible elements react to keys at once, and requests are sent a frame earlier.
options.requestAnimationFrame = queueMicrotask

interface AppProps<Session> {
  /** address prefix of the pages */
  scope: string
  store: SessionStore<Session>
  signIn: ComponentChildren
  /** the frame and the pages for the signed-in person */
  children: (session: Session) => ComponentChildren
}

export function App<Session>({ scope, store: { session, loadSession }, signIn, children }: AppProps<Session>) {
  const current = session.value
  useEffect(() => {
    loadSession().catch(() => {
      session.value = null
      announce(t('offline'), 'bad')
    })
  }, [loadSession, session])
  if (current === undefined) return null
  return (
    <LocationProvider scope={scope}>
      {current === null ? signIn : children(current)}
      <ConfirmationDialog />
      <Toasts />
    </LocationProvider>
  )
}

interface RoutesProps {
  /** the start page: its address and name */
  home: Home
  /** a `Route` for each page */
  children: VNode[]
}

interface Home {
  href: string
  text: string
}

/** The page at the current address. */
export function Routes({ home, children }: RoutesProps) {
  const { path } = useLocation()
  const opened = useRef(path)
  // A new page starts scrolled to its top, with the keyboard focus inside it.
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
