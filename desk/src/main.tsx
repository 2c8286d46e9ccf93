// The seller's desk: signs sellers in by an API key and routes to its pages.
import { render } from 'preact'
import { lazy, Route } from 'preact-iso'
import { App, Routes } from '#ui/app.tsx'
import { Bell } from '#ui/bell.tsx'
import { Frame } from '#ui/frame.tsx'
import { SignIn } from '#ui/sign-in.tsx'
import '#ui/theme.ts'
import '#ui/styles.css'
import { sessions } from './api.ts'
import { runHeld } from './bulk.ts'
import { SandboxBanner } from './sandbox/clock.tsx'
import { startInSandbox } from './sandbox/sandbox-key.ts'
import { runRemovals } from './collection/record-changes.ts'
import { ICONS } from './icons.ts'
import { AccountPage } from './pages/account.tsx'
import { CollectionsPage } from './pages/collections.tsx'
import { ListingsPage } from './pages/listings.tsx'
import { OrdersPage } from './pages/orders.tsx'
import { PriceJobPage } from './pages/price-job.tsx'
import { PriceJobsPage } from './pages/price-jobs.tsx'
import { StatementPage } from './pages/statement.tsx'
import { VacationPage } from './pages/vacation.tsx'
import { WebhookPage } from './pages/webhook.tsx'
import { t } from './words.ts'
import './styles.css'

const ListingPage = lazy(() => import('./pages/listing.tsx').then((page) => page.ListingPage))
const NewListingPage = lazy(() => import('./pages/new-listing.tsx').then((page) => page.NewListingPage))
const CollectionPage = lazy(() => import('./pages/collection.tsx').then((page) => page.CollectionPage))
const lazyPages = () => import('./pages/lazy-pages.ts')
const FilesPage = lazy(() => lazyPages().then((pages) => pages.FilesPage))
const NotificationsPage = lazy(() => lazyPages().then((pages) => pages.NotificationsPage))
const SandboxPage = lazy(() => lazyPages().then((pages) => pages.SandboxPage))
const OffersPage = lazy(() => lazyPages().then((pages) => pages.OffersPage))
const RenewalPage = lazy(() => lazyPages().then((pages) => pages.RenewalPage))
const RepricingPage = lazy(() => lazyPages().then((pages) => pages.RepricingPage))
const RulePage = lazy(() => lazyPages().then((pages) => pages.RulePage))
const TodayPage = lazy(() => lazyPages().then((pages) => pages.TodayPage))
const NewRulePage = lazy(() => lazyPages().then((pages) => pages.NewRulePage))
const CardPage = lazy(() => lazyPages().then((pages) => pages.CardPage))
const WatchesPage = lazy(() => lazyPages().then((pages) => pages.WatchesPage))
const CollectionRecordPage = lazy(() => lazyPages().then((pages) => pages.CollectionRecordPage))

const places = () => [
  { href: '/desk/today', text: t('today'), help: 'selling#today' },
  {
    href: '/desk',
    help: 'selling#listings',
    text: t('listings'),
    also: ['/desk/listings', '/desk/price-jobs', '/desk/repricing', '/desk/renewal', '/desk/files', '/desk/vacation'],
  },
  { href: '/desk/orders', text: t('sales'), help: 'selling#sales', also: ['/desk/statement', '/desk/offers'] },
  { href: '/desk/collections', text: t('collections'), help: 'selling#collections', also: ['/desk/cards'] },
  { href: '/desk/watches', text: t('watches'), help: 'selling#watches' },
  { href: '/desk/webhook', text: t('webhook'), help: 'selling#webhook' },
  { href: '/desk/sandbox', text: t('sandbox'), help: 'api-guide#sandboxes-plus' },
  { href: '/desk/account', text: t('account'), help: 'selling#account', also: ['/desk/notifications'] },
]

function Desk() {
  const signIn = <SignIn label={t('apiKey')} hint={t('apiKeyHint')} refused={t('apiKeyRefused')} signIn={sessions.signIn} />
  return (
    <App scope="/desk" store={sessions} signIn={signIn}>
      {({ account }) => (
        <Frame
          places={places()}
          icons={ICONS}
          who={account.name}
          signOut={() => Promise.all([runHeld(), runRemovals()]).then(sessions.signOut)}
          bell={<Bell path="/plus/notifications" href="/desk/notifications" />}
        >
          <SandboxBanner />
          <Pages />
        </Frame>
      )}
    </App>
  )
}

function Pages() {
  return (
    <Routes home={{ href: '/desk/today', text: t('today') }}>
      <Route path="/desk/today" component={TodayPage} />
      <Route path="/desk" component={ListingsPage} />
      <Route path="/desk/listings/new" component={NewListingPage} />
      <Route path="/desk/listings/:id" component={ListingPage} />
      <Route path="/desk/price-jobs" component={PriceJobsPage} />
      <Route path="/desk/price-jobs/:id" component={PriceJobPage} />
      <Route path="/desk/repricing" component={RepricingPage} />
      <Route path="/desk/repricing/new" component={NewRulePage} />
      <Route path="/desk/repricing/:id" component={RulePage} />
      <Route path="/desk/renewal" component={RenewalPage} />
      <Route path="/desk/files" component={FilesPage} />
      <Route path="/desk/vacation" component={VacationPage} />
      <Route path="/desk/orders" component={OrdersPage} />
      <Route path="/desk/statement" component={StatementPage} />
      <Route path="/desk/offers" component={OffersPage} />
      <Route path="/desk/collections" component={CollectionsPage} />
      <Route path="/desk/collections/:id" component={CollectionPage} />
      <Route path="/desk/cards/:id" component={CardPage} />
      <Route path="/desk/watches" component={WatchesPage} />
      <Route path="/desk/collections/:id/records/:recordId" component={CollectionRecordPage} />
      <Route path="/desk/sandbox" component={SandboxPage} />
      <Route path="/desk/webhook" component={WebhookPage} />
      <Route path="/desk/notifications" component={NotificationsPage} />
      <Route path="/desk/account" component={AccountPage} />
    </Routes>
  )
}

startInSandbox()
render(<Desk />, document.getElementById('app')!)
