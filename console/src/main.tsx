// The console: signs in, shows the frame, and routes to the pages; those with charts are loaded when they are opened.
import { render } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { LocationProvider, lazy, Route, Router, useLocation } from 'preact-iso'
import { loadSession, session } from './api.ts'
import { AccountPage } from './pages/account.tsx'
import { WebhooksPage } from './pages/webhooks.tsx'
import { AccountsPage } from './pages/accounts.tsx'
import { ApprovalsPage } from './pages/approvals.tsx'
import { AuditPage } from './pages/audit.tsx'
import { CataloguePage } from './pages/catalogue.tsx'
import { DumpsPage } from './pages/dumps.tsx'
import { ImportPage } from './pages/import.tsx'
import { ImportsPage } from './pages/imports.tsx'
import { ListingPage } from './pages/listing.tsx'
import { ListingsPage } from './pages/listings.tsx'
import { MatchesPage } from './pages/matches.tsx'
import { OrderPage } from './pages/order.tsx'
import { OrdersPage } from './pages/orders.tsx'
import { RatesPage } from './pages/rates.tsx'
import { PriceDecisionsPage } from './pages/price-decisions.tsx'
import { PriceReviewsPage } from './pages/price-reviews.tsx'
import { SetMatchesPage } from './pages/set-matches.tsx'
import { SynonymsPage } from './pages/synonyms.tsx'
import { SignInPage } from './pages/sign-in.tsx'
import { SourcesPage } from './pages/sources.tsx'
import { TodayPage } from './pages/today.tsx'
import { Frame } from './ui/frame.tsx'
import { Questions } from './ui/dialog.tsx'
import { Heading } from './ui/heading.tsx'
import { Empty } from './ui/states.tsx'
import { announce, Toasts } from './ui/toasts.tsx'
import { t } from './words.ts'
import './theme.ts'
import './styles.css'

const ItemPage = lazy(() => import('./pages/item.tsx').then((module) => module.ItemPage))

function App() {
  const known = session.value
  useEffect(() => {
    loadSession().catch(() => {
      session.value = null
      announce(t('offline'), 'bad')
    })
  }, [])
  if (known === undefined) return null
  return (
    <LocationProvider scope="/console">
      {known === null ? (
        <SignInPage />
      ) : (
        <Frame operator={known.operator}>
          <Pages />
        </Frame>
      )}
      <Questions />
      <Toasts />
    </LocationProvider>
  )
}

function Pages() {
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
      <Route path="/console" component={TodayPage} />
      <Route path="/console/approvals" component={ApprovalsPage} />
      <Route path="/console/catalogue" component={CataloguePage} />
      <Route path="/console/catalogue/items/:id" component={ItemPage} />
      <Route path="/console/synonyms" component={SynonymsPage} />
      <Route path="/console/imports" component={ImportsPage} />
      <Route path="/console/imports/:id" component={ImportPage} />
      <Route path="/console/dumps" component={DumpsPage} />
      <Route path="/console/rates" component={RatesPage} />
      <Route path="/console/price-reviews" component={PriceReviewsPage} />
      <Route path="/console/price-decisions" component={PriceDecisionsPage} />
      <Route path="/console/sources" component={SourcesPage} />
      <Route path="/console/matches" component={MatchesPage} />
      <Route path="/console/set-matches" component={SetMatchesPage} />
      <Route path="/console/listings" component={ListingsPage} />
      <Route path="/console/listings/:id" component={ListingPage} />
      <Route path="/console/orders" component={OrdersPage} />
      <Route path="/console/orders/:id" component={OrderPage} />
      <Route path="/console/accounts" component={AccountsPage} />
      <Route path="/console/accounts/:id" component={AccountPage} />
      <Route path="/console/webhooks" component={WebhooksPage} />
      <Route path="/console/audit" component={AuditPage} />
      <Route default component={NoPage} />
    </Router>
  )
}

function NoPage() {
  return (
    <>
      <Heading>{t('noPage')}</Heading>
      <Empty>
        <a href="/console">{t('today')}</a>
      </Empty>
    </>
  )
}

render(<App />, document.getElementById('app')!)
