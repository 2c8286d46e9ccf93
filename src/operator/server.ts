// The operator API's own listener: operator tokens on everything below /operator/v1, and its OpenAPI document.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { addGate } from '#accounts/keys/gate.ts'
import type { Keyring } from '#accounts/keys/keyring.ts'
import { addProviderSignIn } from '#accounts/provider/provider-routes.ts'
import { pictureViewer, type SessionPages, sessionCaller } from '#accounts/sessions/session-routes.ts'
import type { CatalogueNode } from '#catalogue/context.ts'
import type { StoredExplainCtx } from '#catalogue/items/explain-price.ts'
import type { AuditArchive } from '#audit/archive/audit-file.ts'
import type { AuditCtx } from '#audit/audit-types.ts'
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import type { Log } from '#core/context.ts'
import type { Sealing } from '#core/sealing.ts'
import { call, type Viewer } from '#core/verb.ts'
import type { ChangeFeed } from '#db/changes/change-feed.ts'
import type { Db } from '#db/schema.ts'
import { openSnapshot } from '#db/snapshot.ts'
import { addBuiltPages } from '#http/built-pages.ts'
import type { HealthCtx } from '#health/read-health.ts'
import { failuresOf } from '#http/failures.ts'
import { apiRequest, viewerOf } from '#http/fastify-adapter.ts'
import { addOperatorPages } from '../pages/routes.ts'
import { addReference } from '#http/openapi/reference.ts'
import type { ApiRequest } from '#http/respond.ts'
import { registerRoutes } from '#http/routes.ts'
import type { RequestCounts } from '#http/request-counts.ts'
import { answerNotFound, createServer } from '#http/server.ts'
import { writeHeadersOf } from '#http/write-headers.ts'
import type { ImageProxy } from '#images/image-proxy.ts'
import { addPictures } from '#images/routes.ts'
import { addSamplePictures } from '#images/sample-pictures.ts'
import { ImportQueue } from '#imports/queue.ts'
import type { UploadCtx } from '#imports/start-uploaded-import.ts'
import type { DumpCtx, DumpMaker } from '#dumps/maker.ts'
import type { MarketSettings, MarketWriteCtx } from '#market/marketplace-types.ts'
import type { PhotoNode } from '#photos/photo-types.ts'
import type { PriceArchive } from '#prices/archive/price-archive.ts'
import type { HistoryCtx } from '#prices/history/history.ts'
import type { SourceFetches } from '#public-sources/source-fetches.ts'
import type { FetchCtx } from '#public-sources/start-source-fetch.ts'
import type { SourcesCtx } from '#prices/reviews/list-sources.ts'
import type { WebhookRules } from '#webhooks/webhook-types.ts'
import packageJson from '../../package.json' with { type: 'json' }
import type { Config } from '#config.ts'
import { accountRoutes } from './account-routes.ts'
import { approvalRuleRoutes } from './approval-rule-routes.ts'
import { auditRoutes } from './audit-routes.ts'
import { addConsoleSession } from './console-session.ts'
import { catalogueRoutes } from './catalogue-routes.ts'
import { collectionFileRoutes, collectionRoutes } from './collection-routes.ts'
import { dumpRoutes } from './dump-routes.ts'
import { heldRoutes } from './held-routes.ts'
import { rateRoutes } from './rate-routes.ts'
import { synonymRoutes } from './synonym-routes.ts'
import { priceReviewRoutes } from './price-review-routes.ts'
import { identityRoutes } from './identity-routes.ts'
import { matchRoutes } from './match-routes.ts'
import { certificateRoutes, listingRoutes } from './listing-routes.ts'
import { openServiceMetrics } from './metrics.ts'
import { addMetrics } from './metrics-server.ts'
import { notificationRoutes } from './service/notification-routes.ts'
import { offerRoutes, orderRoutes } from './order-routes.ts'
import { peopleRoutes } from './people-routes.ts'
import { priceRoutes } from './price-routes.ts'
import { breachRoutes } from './privacy/breach-routes.ts'
import { noticeRoutes } from './privacy/notice-routes.ts'
import { privacyRoutes } from './privacy/personal-data-routes.ts'
import type { Sandboxes } from '#sandbox/sandboxes.ts'
import { readStats } from '#stats/read-stats.ts'
import { sourceRoutes } from './source-routes.ts'
import { gameRoutes } from './service/game-routes.ts'
import { publicSourceRoutes } from './service/public-source-routes.ts'
import { sandboxRoutes } from './service/sandbox-routes.ts'
import { settingRoutes } from './service/setting-routes.ts'
import { statsRoutes } from './service/stats-routes.ts'
import { webhookRoutes } from './webhook-routes.ts'
import { UPLOAD_TIMEOUT_MS } from './uploads.ts'

const ROUTES = [
  ...accountRoutes,
  ...peopleRoutes,
  ...auditRoutes,
  ...catalogueRoutes,
  ...collectionRoutes,
  ...certificateRoutes,
  ...listingRoutes,
  ...approvalRuleRoutes,
  ...orderRoutes,
  ...offerRoutes,
  ...heldRoutes,
  ...rateRoutes,
  ...synonymRoutes,
  ...priceReviewRoutes,
  ...sourceRoutes,
  ...identityRoutes,
  ...matchRoutes,
  ...statsRoutes,
  ...notificationRoutes,
  ...settingRoutes,
  ...dumpRoutes,
  ...publicSourceRoutes,
  ...gameRoutes,
  ...privacyRoutes,
  ...noticeRoutes,
]

const TAGS = [
  { name: 'Accounts', description: 'Customers, their plans and their highlight credits' },
  { name: 'Keys', description: 'API keys of accounts' },
  { name: 'Catalogue', description: 'Categories, items and groups' },
  { name: 'Matches', description: 'Source records and sets pending a match decision' },
  { name: 'Prices', description: 'Set prices and read their history' },
  { name: 'Imports', description: 'Import files, read import reports and revert imports' },
  { name: 'Held prices', description: 'Prices held for review because they look wrong' },
  { name: 'Price reviews', description: 'Prices under review, decisions about them, and undoing decisions' },
  { name: 'Rates', description: 'Exchange rates and price indices' },
  { name: 'Listings', description: 'Listings of sellers and their approval' },
  { name: 'Certificates', description: 'Certificates of graded cards' },
  { name: 'Approval rules', description: 'Rules that approve listings, in shadow or on, and their backtests' },
  { name: 'Orders', description: 'Orders and sales of the checkout' },
  { name: 'Collections', description: 'Collections of accounts, their imports and exports' },
  { name: 'Webhooks', description: 'Webhooks of accounts, their events and deliveries' },
  { name: 'People', description: 'People who run the service, their roles, sessions and tokens' },
  { name: 'Personal data', description: 'Exports and erasures of what is stored about an account or a buyer' },
  { name: 'Notices', description: 'Notices of infringement and decisions about them' },
  { name: 'Audit', description: 'Record of every write' },
  { name: 'Price sources', description: 'Trust in each source, and ids shared by several items' },
  { name: 'Stats', description: 'Counts, queues, activity and health' },
  { name: 'Settings', description: 'Settings that can be changed while the service runs' },
  { name: 'Sandboxes', description: 'Sandboxes of accounts, in which they test their integrations' },
  { name: 'Notifications', description: 'Findings that need attention, each told once' },
]

/** The parts of the node that the listener uses. */
export interface OperatorNode {
  config: Config
  db: Db
  log: Log
  feed: Pick<ChangeFeed, 'pull' | 'lastPullMs'>
  requests: RequestCounts
  keys: Keyring
  operators: Keyring
  catalogue: Catalogue
  consoleSessions: Keyring
  /** metrics of this process, and of the other serving processes on this machine */
  processMetrics: () => Promise<string[]>
  webhooks: WebhookRules
  /** seals the secrets of authenticator apps */
  peopleSealing: Sealing
  /** seals the cookies of sign-ins with the identity provider */
  signInSealing: Sealing
  dumps: DumpMaker
  fetches: SourceFetches
  archive: PriceArchive
  auditArchive: AuditArchive
  openImages: () => Promise<ImageProxy>
  photos: PhotoNode['photos']
  market: MarketSettings
  now: () => Date
  sandboxes: Pick<Sandboxes, 'remove'>
}

/** Builds the operator API's server; the caller listens and closes. */
export async function operatorServer(node: OperatorNode): Promise<FastifyInstance> {
  const app = createServer({ log: node.log, trustProxy: node.config.trustProxy })
  node.requests.watch(app)
  const url = `http://127.0.0.1:${node.config.operatorPort}`
  await addReference(app, {
    document: '/operator/openapi.json',
    url,
    credential: '<OPERATOR_TOKEN>',
    server: null,
    openapi: {
      info: {
        title: 'Mintmark operator API',
        version: packageJson.version,
        description: 'For the operator of the service: shop, checkout, feeds and back office.',
      },
      tags: TAGS,
      components: {
        securitySchemes: {
          operatorToken: { type: 'http', scheme: 'bearer', description: 'An operator token, never an API key' },
        },
      },
    },
  })
  // With a database of its own, the process is also the only user of its data directory.
  const imports = new ImportQueue({ db: node.db, log: node.log, now: node.now, dataDir: node.config.alone ? node.config.dataDir : null })
  imports.start()
  app.addHook('onClose', () => imports.close())
  app.server.requestTimeout = UPLOAD_TIMEOUT_MS
  const failed = failuresOf(node.log)
  const ctx = contextsOf(node, imports)
  const pages: SessionPages = { app: 'console', sessions: node.consoleSessions, publicUrl: node.config.operatorUrl }
  await app.register(
    async (api) => {
      addGate(api, node.operators, null, sessionCaller(pages))
      api.setNotFoundHandler(answerNotFound)
      const rules = { failed, security: 'operatorToken', snapshot: openSnapshot }
      registerRoutes(api, [...ROUTES, ...priceRoutes(imports)], { ...rules, ctx })
      registerRoutes(api, collectionFileRoutes(imports), { ...rules, ctx })
      registerRoutes(api, sandboxRoutes, { ...rules, ctx: (viewer, request) => ({ ...ctx(viewer, request), sandboxes: node.sandboxes }) })
      registerRoutes(api, [...webhookRoutes, ...breachRoutes], {
        ...rules,
        ctx: (viewer, request) => ({ ...ctx(viewer, request), webhooks: node.webhooks }),
      })
    },
    { prefix: '/operator/v1' },
  )
  const serviceMetrics = openServiceMetrics()
  await app.register(async (scope) =>
    addMetrics(scope, node.operators, async (request) => {
      const service = await serviceMetrics(await call(readStats, ctx(viewerOf(request), apiRequest(request)), {}))
      return [service, ...(await node.processMetrics())]
    }),
  )
  const { operators, config } = node
  const sessionCtx = (request: FastifyRequest, viewer: Viewer) => ctx(viewer, apiRequest(request))
  addConsoleSession(app, pages, {
    operators,
    sealing: node.peopleSealing,
    ctx: sessionCtx,
    currencies: config.sourceCurrencies,
    marketNames: config.marketNames,
    provider: config.identityProvider && new URL(config.identityProvider.issuer).host,
  })
  if (config.identityProvider) {
    const { log, now, signInSealing: sealing } = node
    addProviderSignIn(app, pages, { settings: config.identityProvider, failures: operators.failures, sealing, ctx: sessionCtx, log, now })
  }
  app.get('/', { schema: { hide: true } as object }, (_request, reply) => reply.redirect('/console'))
  addPictures(app, '/console/pictures', { images: node.openImages, photos: node.photos, viewerOf: pictureViewer(pages) })
  addBuiltPages(app, 'console', '')
  addOperatorPages(app, config, url)
  addSamplePictures(app)
  return app
}

type OperatorCtx = FetchCtx & UploadCtx & MarketWriteCtx & StoredExplainCtx & SourcesCtx & CatalogueNode & DumpCtx & HealthCtx & HistoryCtx & AuditCtx

function contextsOf(node: OperatorNode, imports: ImportQueue) {
  return (viewer: Viewer, request: ApiRequest): OperatorCtx => ({
    db: node.db,
    viewer,
    now: node.now,
    requestId: request.id,
    ...writeHeadersOf(request, viewer),
    market: node.market,
    caughtUp: () => node.feed.pull(),
    rules: node.config.priceRules,
    marketNames: node.config.marketNames,
    marketOrder: node.config.marketOrder,
    catalogue: node.catalogue,
    currencies: node.config.sourceCurrencies,
    imports,
    dumps: node.dumps,
    fetches: node.fetches,
    config: node.config,
    archive: node.archive,
    auditArchive: node.auditArchive,
  })
}
