// The public listener: REST under /api/v1, its reference, GraphQL, and health.
import type { FastifyInstance } from 'fastify'
import { addDeskSession } from '#accounts/sessions/desk-session.ts'
import { addGate, allow, type TestKeys } from '#accounts/keys/gate.ts'
import type { Keyring } from '#accounts/keys/keyring.ts'
import { AddressLimits } from '#accounts/limits/address-limits.ts'
import type { RateLimits } from '#accounts/limits/rate-limits.ts'
import { type SessionPages, sessionCaller } from '#accounts/sessions/session-routes.ts'
import { isShareToken } from '#collections/records/share-token.ts'
import { SharedCollections } from '#collections/sharing/read-shared.ts'
import type { Config } from './config.ts'
import { Cache } from '#core/cache.ts'
import type { Log } from '#core/context.ts'
import { notFound, ServiceError } from '#core/errors.ts'
import { reason } from '#core/problems.ts'
import type { Viewer } from '#core/verb.ts'
import type { ImageProxy } from '#images/image-proxy.ts'
import { addImages, addPhotos } from '#images/routes.ts'
import { addSamplePictures } from '#images/sample-pictures.ts'
import type { ListingViews } from '#market/views/listing-views.ts'
import { addPages } from './pages/routes.ts'
import { addSharedPages, guardShared } from './pages/shared/routes.ts'
import { publicContext, type PublicContextNode, type PublicCtx } from '#public-context.ts'
import { addBuiltPages } from '#http/built-pages.ts'
import { trustOf } from '#http/client-address.ts'
import { compressReplies } from '#http/compress-replies.ts'
import { markAsTest } from '#sandbox/livemode.ts'
import { corsHeaders } from '#http/cors.ts'
import { errorBody } from '#http/envelope.ts'
import { failuresOf } from '#http/failures.ts'
import { apiRequest } from '#http/fastify-adapter.ts'
import { addFastPath, type FastEndpoint, fastRead } from '#http/fast-path.ts'
import { addReference } from '#http/openapi/reference.ts'
import { type ApiRequest, isCurrent, responseWeight, type ResponseCache } from '#http/respond.ts'
import type { Response } from '#http/response.ts'
import type { Route } from '#http/route.ts'
import { registerOtherMethods, registerRoutes, type RouteRules } from '#http/routes.ts'
import type { RequestCounts } from '#http/request-counts.ts'
import { answerNotFound, createServer } from '#http/server.ts'
import { addGraphql } from './graphql/routes.ts'
import { addMcp } from './mcp/routes.ts'
import { catalogueRoutes } from './rest/catalogue-routes.ts'
import { changeRoutes } from './rest/change-routes.ts'
import { collectionFileRoutes } from './rest/collection-file-routes.ts'
import { collectionRoutes } from './rest/collection-routes.ts'
import { apiDescription, NOTIFICATIONS, TAGS } from './rest/description.ts'
import { dumpRoutes } from './rest/dump-routes.ts'
import { listingRoutes } from './rest/listing-routes.ts'
import { meRoutes } from './rest/me-route.ts'
import { intakeRoutes } from './rest/intake-routes.ts'
import { photoRoutes } from './rest/photo-routes.ts'
import { priceJobRoutes } from './rest/price-job-routes.ts'
import { priceRoutes } from './rest/price-routes.ts'
import { lotRoutes } from './rest/lot-routes.ts'
import { offerRoutes } from './rest/offer-routes.ts'
import { repricingRoutes } from './rest/repricing-routes.ts'
import { saleRoutes } from './rest/sale-routes.ts'
import { sandboxRoutes } from './rest/sandbox-routes.ts'
import { sharedRoutes } from './rest/shared-routes.ts'
import { vacationRoutes } from './rest/vacation-routes.ts'
import { notificationRoutes } from './rest/notification-routes.ts'
import { watchRoutes } from './rest/watch-routes.ts'
import { webhookRoutes } from './rest/webhook-routes.ts'

export interface PublicNode extends PublicContextNode {
  config: Config
  /** key of the demo, shown on the developer page */
  demoKey: string | null
  log: Log
  /** null while IMAGE_PROXY is off */
  images: ImageProxy | null
  keys: Keyring
  /** sessions of the seller's desk */
  sellerSessions: Keyring
  limits: RateLimits | null
  /** null inside of a sandbox */
  testKeys: TestKeys | null
  /** false inside of a sandbox */
  livemode: boolean
  views: ListingViews
  /** counts what people search for */
  searches: { note: (viewer: Viewer, term: string, address: string) => void }
  requests: RequestCounts
  /** why the node is not ready for traffic, null if it is */
  notReady: () => string | null
}

/** Shares of the cache memory that are used for whole responses, of the catalogue and of listings. */
const CACHED_ITEMS_SHARE = 0.225
const CACHED_LISTINGS_SHARE = 0.1

/** Builds the public listener; the caller listens and closes. */
export async function publicServer(node: PublicNode): Promise<FastifyInstance> {
  const app = createServer({ log: node.log, trustProxy: node.config.trustProxy, cors: corsHeaders(node.config.corsOrigins) })
  node.requests.watch(app)
  if (node.livemode) compressReplies(app)
  else markAsTest(app)
  const url = node.config.publicUrl ?? `http://127.0.0.1:${node.config.port}`
  await addReference(app, {
    document: '/openapi.json',
    url,
    credential: '<API_KEY>',
    server: node.config.publicUrl,
    openapi: {
      info: { title: 'Mintmark API', version: 'v1', description: apiDescription(url) },
      components: {
        securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'Authorization: Bearer <API_KEY>' } },
      },
      tags: [...TAGS],
      webhooks: NOTIFICATIONS,
    },
  })
  health(app, node)
  addSamplePictures(app)
  addPhotos(app, node)
  if (node.images) addImages(app, { images: node.images, catalogue: node.catalogue })
  addShared(app, node)
  const graphql = addGraphql(app, node)
  const { reads, routes } = await addRest(app, node)
  addDesk(app, node)
  addPages(
    app,
    node,
    { tags: TAGS, endpoints: [...routes, ...sharedRoutes].map(({ method, path, summary, tag }) => ({ method, path, summary, tag })) },
    url,
  )
  await app.ready()
  if (!node.config.without.has('fast-path')) {
    addFastPath(app, [...reads, ...graphql], {
      cachedCaller: (authorization) => node.keys.cached(authorization),
      allow: (viewer, operation) => allow(viewer, operation, node.limits, node.keys.usage),
      requests: node.requests,
    })
  }
  return app
}

/** Adds the REST routes and the MCP tools based on them; returns the routes, and the reads that the fast path serves. */
async function addRest(app: FastifyInstance, node: PublicNode): Promise<{ reads: FastEndpoint[]; routes: Route<PublicCtx>[] }> {
  const prefix = '/api/v1'
  const { catalogue, listings, searches, views } = node
  const countSearch = (viewer: Viewer, { term }: Response, request: ApiRequest) => {
    if (term !== undefined) searches.note(viewer, term, request.address())
  }
  const readyBytes = node.config.without.has('response-cache') ? 0 : node.config.readyBytesMb * 1024 * 1024
  const rules: RouteRules<PublicCtx> = { ctx: publicContext(node), failed: failuresOf(node.log), security: 'apiKey' }
  const families: [Route<PublicCtx>[], RouteRules<PublicCtx>][] = [
    [catalogueRoutes(catalogue), { ...rules, cache: responseCache(readyBytes * CACHED_ITEMS_SHARE, () => catalogue.version), counted: countSearch }],
    [
      listingRoutes(listings),
      {
        ...rules,
        cache: responseCache(readyBytes * CACHED_LISTINGS_SHARE, () => listings.version),
        counted: (viewer, response, request) => {
          if (response.shown) views.note(viewer, response.shown)
          countSearch(viewer, response, request)
        },
      },
    ],
    [
      [
        ...priceRoutes,
        ...changeRoutes,
        ...dumpRoutes,
        ...intakeRoutes,
        ...photoRoutes,
        ...priceJobRoutes,
        ...offerRoutes,
        ...lotRoutes,
        ...repricingRoutes,
        ...collectionRoutes,
        ...collectionFileRoutes,
        ...saleRoutes,
        ...vacationRoutes,
        ...watchRoutes,
        ...notificationRoutes,
        ...webhookRoutes,
        ...meRoutes,
        ...sandboxRoutes,
      ],
      rules,
    ],
  ]
  const reads: FastEndpoint[] = []
  const trust = trustOf(node.config.trustProxy)
  const all = families.flatMap(([routes]) => routes)
  addMcp(app, node, all)
  await app.register(
    async (scope) => {
      addGate(scope, node.keys, node.limits, sessionCaller(deskPages(node)), node.testKeys)
      scope.setNotFoundHandler(answerNotFound)
      for (const [routes, rules] of families) {
        const endpoints = registerRoutes(scope, routes, rules)
        for (const [i, { method, verb, path }] of routes.entries()) {
          if (method === 'GET' && verb.sharedBy === 'plan') reads.push(fastRead(prefix, path, endpoints[i]!, trust))
        }
      }
    },
    { prefix },
  )
  return { reads, routes: all }
}

function deskPages({ sellerSessions, config }: PublicNode): SessionPages {
  return { app: 'desk', sessions: sellerSessions, publicUrl: config.publicUrl }
}

/** Adds the seller's desk: its pages call the REST routes by the session's cookie. */
function addDesk(app: FastifyInstance, node: PublicNode): void {
  const { keys, limits, config } = node
  const ctx = publicContext(node)
  addDeskSession(app, deskPages(node), {
    keys,
    limits,
    ctx: (request, viewer) => ctx(viewer, apiRequest(request)),
    currencies: config.sourceCurrencies,
    marketNames: config.marketNames,
    timeZone: config.timeZone,
  })
  addBuiltPages(app, 'desk', ' https: http:')
}

/** Requests a minute from one address for shared collections: a page, its chart and its data count as one each. */
const SHARED_LIMIT = 120

/** Somebody without a key: no account's own records are theirs, and they may write nothing. */
const VISITOR: Viewer = Object.freeze({ kind: 'account', accountId: 0, keyId: 0, plan: 'starter', readOnly: true })

/** Adds what anyone with the link of a shared collection may read. */
function addShared(app: FastifyInstance, { db, catalogue, config, market, now, log }: PublicNode): void {
  const currencies = config.sourceCurrencies
  const shared = new SharedCollections({ db, catalogue, currencies, market, mayUse: (position) => catalogue.shows(position) })
  const limits = new AddressLimits(SHARED_LIMIT, now)
  void app.register(async (scope) => {
    guardShared(scope, (request) => limits.admit(request))
    addSharedPages(scope, { read: (token, range) => shared.read(token, range), readDays: (token) => shared.readDays(token) })
    await scope.register(
      async (open) => {
        open.decorateRequest('viewer', null)
        open.decorateRequest('credential', null)
        open.addHook('onRequest', (request, _reply, done) => {
          // A token that cannot exist gets the answer of one that does not, not that of an invalid parameter.
          const { token } = request.params as { token: string }
          if (!isShareToken(token)) throw notFound('share_not_found')
          request.viewer = VISITOR
          done()
        })
        registerRoutes(open, sharedRoutes, { ctx: (viewer) => ({ viewer, shared }), failed: failuresOf(log), security: null })
      },
      { prefix: '/api/v1' },
    )
  })
}

function responseCache(limit: number, version: () => number): ResponseCache | undefined {
  return limit === 0 ? undefined : new Cache({ limit, weigh: responseWeight, version, isCurrent })
}

function health(app: FastifyInstance, node: PublicNode): void {
  const schema = { hide: true } as object
  app.get('/health/live', { schema }, () => ({ success: true, data: { status: 'live' } }))
  app.get('/health/ready', { schema }, (_request, reply) => {
    const state = node.notReady()
    if (!state) return { success: true, data: { status: 'ready' } }
    // A normal response, not a failure to log: it is requested every second while a node starts.
    return reply.code(503).send(errorBody(new ServiceError('UNAVAILABLE', reason('not_ready', { phase: state }))))
  })
  registerOtherMethods(app, '/health/live', ['GET'])
  registerOtherMethods(app, '/health/ready', ['GET'])
}
