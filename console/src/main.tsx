// The console: signs operators in and routes to its pages; pages with charts are loaded when they are opened.
import { render } from 'preact'
import { lazy, Route } from 'preact-iso'
import { App, Routes } from '#ui/app.tsx'
import { Bell } from '#ui/bell.tsx'
import { Frame } from '#ui/frame.tsx'
import { Heading } from '#ui/heading.tsx'
import '#ui/theme.ts'
import '#ui/styles.css'
import { sessions, type SignedInPerson } from './api.ts'
import { ICONS } from './icons.ts'
import { AccountPage } from './pages/account.tsx'
import { AccountsPage } from './pages/accounts.tsx'
import { ApprovalRulePage, ApprovalRulesPage } from './pages/approval-rules.tsx'
import { ApprovalsPage } from './pages/approvals.tsx'
import { AuditPage } from './pages/audit.tsx'
import { CataloguePage } from './pages/catalogue.tsx'
import { CertificatesPage } from './pages/certificates.tsx'
import { DumpsPage } from './pages/dumps.tsx'
import { FirstStepsPage } from './pages/first-steps.tsx'
import { GamePage, GamesPage } from './pages/games.tsx'
import { HealthPage } from './pages/health.tsx'
import { ImportPage } from './pages/import.tsx'
import { ImportsPage } from './pages/imports.tsx'
import { IndicesPage } from './pages/indices.tsx'
import { ListingPage } from './pages/listing.tsx'
import { ListingsPage } from './pages/listings.tsx'
import { MatchesPage } from './pages/matches.tsx'
import { MyAccountPage } from './pages/my-account.tsx'
import { NoticesPage } from './pages/notices.tsx'
import { PersonalDataPage } from './pages/personal-data.tsx'
import { NOTIFICATIONS_PATH, NotificationsPage } from './pages/notifications.tsx'
import { OrderPage } from './pages/order.tsx'
import { OrdersPage } from './pages/orders.tsx'
import { PeoplePage, PersonPage } from './pages/people.tsx'
import { PriceDecisionsPage } from './pages/price-decisions.tsx'
import { PriceReviewsPage } from './pages/price-reviews.tsx'
import { RatesPage } from './pages/rates.tsx'
import { SandboxesPage } from './pages/sandboxes.tsx'
import { SearchesPage } from './pages/searches.tsx'
import { SetMatchesPage } from './pages/set-matches.tsx'
import { SettingsPage } from './pages/settings.tsx'
import { SourcesPage } from './pages/sources.tsx'
import { SynonymsPage } from './pages/synonyms.tsx'
import { TodayPage } from './pages/today.tsx'
import { WebhooksPage } from './pages/webhooks.tsx'
import { searchRecords } from './ui/search-records.ts'
import { HeldPricesBadge } from './ui/held-prices-badge.tsx'
import { ACCOUNT_PATH, ConsoleSignIn, JOIN_PATH, JoinForm } from './ui/sign-in-forms.tsx'
import { t } from './words.ts'
import './styles.css'

const ItemPage = lazy(() => import('./pages/item.tsx').then((module) => module.ItemPage))

const FIRST_STEPS_PATH = '/console/first-steps'

interface Signed {
  person: SignedInPerson | null
  first_steps: boolean
  is_empty: boolean
}

const account = () => ({ href: ACCOUNT_PATH, text: t('myAccount'), help: 'operating#people' })

const places = ({ person, first_steps: isNew, is_empty: isEmpty }: Signed) => [
  { href: '/console', text: isEmpty ? t('firstSteps') : t('today'), help: 'operating#console' },
  ...(isNew && !isEmpty ? [{ href: FIRST_STEPS_PATH, text: t('firstSteps'), help: 'first-hour' }] : []),
  { href: '/console/approvals', text: t('approvals'), help: 'operating#approvals', also: ['/console/approval-rules', '/console/notices'] },
  {
    href: '/console/catalogue',
    text: t('catalogue'),
    help: 'operating#importing',
    also: ['/console/games', '/console/synonyms', '/console/searches'],
  },
  { href: '/console/matches', text: t('matches'), help: 'operating#matches', also: ['/console/set-matches'] },
  {
    href: '/console/price-reviews',
    text: t('priceReviews'),
    help: 'prices#deciding',
    also: ['/console/price-decisions'],
    badge: <HeldPricesBadge />,
  },
  { href: '/console/sources', text: t('priceSources'), help: 'prices#health-of-the-sources' },
  { href: '/console/imports', text: t('imports'), help: 'operating#importing', also: ['/console/rates', '/console/indices'] },
  { href: '/console/dumps', text: t('dumps'), help: 'operating#dumps' },
  { href: '/console/listings', text: t('market'), help: 'operating#cancellations-and-refunds', also: ['/console/orders', '/console/certificates'] },
  {
    href: '/console/accounts',
    text: t('accounts'),
    help: 'operating#limits-of-api-keys',
    also: ['/console/webhooks', '/console/sandboxes', '/console/personal-data'],
  },
  { href: '/console/audit', text: t('audit'), help: 'operating#archive-of-the-audit-log' },
  { href: '/console/health', text: t('health'), help: 'operating#monitoring', also: [NOTIFICATIONS_PATH] },
  { href: '/console/settings', text: t('settings'), help: 'operating#change-settings-while-the-service-runs' },
  ...(person === null || person.roles.includes('owner') ? [{ href: '/console/people', text: t('people'), help: 'operating#people' }] : []),
  ...(person === null ? [] : [account()]),
]

function Console() {
  return (
    <App scope="/console" store={sessions} signIn={<ConsoleSignIn />}>
      {(signed) => (
        <Frame
          places={signed.person?.unfinished ? [account()] : places(signed)}
          icons={ICONS}
          who={signed.operator.replace(/[:#]\d+$/, '')}
          signOut={sessions.signOut}
          find={searchRecords}
          bell={signed.person?.unfinished ? null : <Bell path="/notifications" href={NOTIFICATIONS_PATH} />}
        >
          {signed.person?.unfinished ? <MyAccountPage /> : <Pages isEmpty={signed.is_empty} />}
        </Frame>
      )}
    </App>
  )
}

/** @param isEmpty without a catalogue, the page Today has nothing to show */
function Pages({ isEmpty }: { isEmpty: boolean }) {
  return (
    <Routes home={{ href: '/console', text: isEmpty ? t('firstSteps') : t('today') }}>
      <Route path="/console" component={isEmpty ? FirstStepsPage : TodayPage} />
      <Route path="/console/approvals" component={ApprovalsPage} />
      <Route path="/console/approval-rules" component={ApprovalRulesPage} />
      <Route path="/console/approval-rules/:id" component={ApprovalRulePage} />
      <Route path="/console/catalogue" component={CataloguePage} />
      <Route path="/console/catalogue/items/:id" component={ItemPage} />
      <Route path="/console/games" component={GamesPage} />
      <Route path="/console/games/:game" component={GamePage} />
      <Route path="/console/synonyms" component={SynonymsPage} />
      <Route path="/console/imports" component={ImportsPage} />
      <Route path="/console/imports/:id" component={ImportPage} />
      <Route path="/console/dumps" component={DumpsPage} />
      <Route path="/console/indices" component={IndicesPage} />
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
      <Route path="/console/certificates" component={CertificatesPage} />
      <Route path="/console/accounts" component={AccountsPage} />
      <Route path="/console/accounts/:id" component={AccountPage} />
      <Route path="/console/personal-data" component={PersonalDataPage} />
      <Route path="/console/notices" component={NoticesPage} />
      <Route path="/console/webhooks" component={WebhooksPage} />
      <Route path="/console/audit" component={AuditPage} />
      <Route path="/console/sandboxes" component={SandboxesPage} />
      <Route path="/console/searches" component={SearchesPage} />
      <Route path="/console/health" component={HealthPage} />
      <Route path="/console/settings" component={SettingsPage} />
      <Route path={NOTIFICATIONS_PATH} component={NotificationsPage} />
      <Route path="/console/people" component={PeoplePage} />
      <Route path="/console/people/:id" component={PersonPage} />
      <Route path={ACCOUNT_PATH} component={MyAccountPage} />
      <Route path={FIRST_STEPS_PATH} component={FirstStepsPage} />
      <Route path={JOIN_PATH} component={JoinPage} />
    </Routes>
  )
}

/** An invitation link opened during a session: using it signs the current person out. */
function JoinPage() {
  return (
    <>
      <Heading>{t('join')}</Heading>
      <JoinForm />
    </>
  )
}

render(<Console />, document.getElementById('app')!)
