// The console: signs operators in and routes to its pages; those with charts are loaded when they are opened.
import { render } from 'preact'
import { lazy, Route } from 'preact-iso'
import { App, Routes } from '#ui/app.tsx'
import { Frame } from '#ui/frame.tsx'
import { SignIn } from '#ui/sign-in.tsx'
import '#ui/theme.ts'
import '#ui/styles.css'
import { sessions } from './api.ts'
import { AccountPage } from './pages/account.tsx'
import { AccountsPage } from './pages/accounts.tsx'
import { ApprovalRulePage, ApprovalRulesPage } from './pages/approval-rules.tsx'
import { ApprovalsPage } from './pages/approvals.tsx'
import { AuditPage } from './pages/audit.tsx'
import { CataloguePage } from './pages/catalogue.tsx'
import { DumpsPage } from './pages/dumps.tsx'
import { HealthPage } from './pages/health.tsx'
import { ImportPage } from './pages/import.tsx'
import { ImportsPage } from './pages/imports.tsx'
import { ListingPage } from './pages/listing.tsx'
import { ListingsPage } from './pages/listings.tsx'
import { MatchesPage } from './pages/matches.tsx'
import { OrderPage } from './pages/order.tsx'
import { OrdersPage } from './pages/orders.tsx'
import { PriceDecisionsPage } from './pages/price-decisions.tsx'
import { PriceReviewsPage } from './pages/price-reviews.tsx'
import { RatesPage } from './pages/rates.tsx'
import { SetMatchesPage } from './pages/set-matches.tsx'
import { SourcesPage } from './pages/sources.tsx'
import { SynonymsPage } from './pages/synonyms.tsx'
import { TodayPage } from './pages/today.tsx'
import { WebhooksPage } from './pages/webhooks.tsx'
import { PricesWaiting } from './ui/prices-waiting.tsx'
import { t } from './words.ts'
import './styles.css'

const ItemPage = lazy(() => import('./pages/item.tsx').then((module) => module.ItemPage))

const places = () => [
  { href: '/console', text: t('today') },
  { href: '/console/approvals', text: t('approvals'), also: ['/console/approval-rules'] },
  { href: '/console/catalogue', text: t('catalogue'), also: ['/console/synonyms'] },
  { href: '/console/matches', text: t('matches'), also: ['/console/set-matches'] },
  { href: '/console/price-reviews', text: t('priceReviews'), also: ['/console/price-decisions'], badge: <PricesWaiting /> },
  { href: '/console/sources', text: t('priceSources') },
  { href: '/console/imports', text: t('imports'), also: ['/console/rates'] },
  { href: '/console/dumps', text: t('dumps') },
  { href: '/console/listings', text: t('market'), also: ['/console/orders'] },
  { href: '/console/accounts', text: t('accounts'), also: ['/console/webhooks'] },
  { href: '/console/audit', text: t('audit') },
  { href: '/console/health', text: t('health') },
]

function Console() {
  const signIn = <SignIn label={t('operatorToken')} hint={t('tokenHint')} refused={t('tokenRefused')} signIn={sessions.signIn} />
  return (
    <App scope="/console" store={sessions} signIn={signIn}>
      {({ operator }) => (
        <Frame places={places()} who={operator.replace(/:\d+$/, '')} signOut={sessions.signOut}>
          <Pages />
        </Frame>
      )}
    </App>
  )
}

function Pages() {
  return (
    <Routes home={{ href: '/console', text: t('today') }}>
      <Route path="/console" component={TodayPage} />
      <Route path="/console/approvals" component={ApprovalsPage} />
      <Route path="/console/approval-rules" component={ApprovalRulesPage} />
      <Route path="/console/approval-rules/:id" component={ApprovalRulePage} />
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
      <Route path="/console/health" component={HealthPage} />
    </Routes>
  )
}

render(<Console />, document.getElementById('app')!)
