// The public listener: REST under /api/v1, its reference, GraphQL, and health.
import compress from '@fastify/compress'
import type { FastifyInstance } from 'fastify'
import { addGate, directGate, viewerOf } from '#accounts/gate.ts'
import type { Keyring } from '#accounts/keyring.ts'
import type { RateLimits } from '#accounts/rate-limits.ts'
import { shapeFor } from '#catalogue/context.ts'
import type { Config } from './config.ts'
import type { Log } from '#core/context.ts'
import { ServiceError } from '#core/errors.ts'
import { addPages } from './pages/routes.ts'
import { publicContext, type PublicContextNode, type PublicCtx } from '#public-context.ts'
import { corsHeaders } from '#http/cors.ts'
import { keepCompressed, KeptAnswers } from '#http/kept-answers.ts'
import { addReference } from '#http/reference.ts'
import { registerOtherMethods, registerRoutes, type Route } from '#http/routes.ts'
import type { RequestCounts } from '#http/request-counts.ts'
import { createServer } from '#http/server.ts'
import { addGraphql } from './graphql/routes.ts'
import { catalogueRoutes } from './rest/catalogue-routes.ts'
import { collectionRoutes } from './rest/collection-routes.ts'
import { apiDescription, NOTIFICATIONS, TAGS } from './rest/description.ts'
import { answerReadsDirectly, directReads, type Read } from './rest/direct-reads.ts'
import { listingReads, listingRoutes } from './rest/listing-routes.ts'
import { priceRoutes } from './rest/price-routes.ts'
import { webhookRoutes } from './rest/webhook-routes.ts'

export interface PublicNode extends PublicContextNode {
  config: Config
  /** key of the demo, shown on the developer's page */
  demoKey: string | null
  log: Log
  keys: Keyring
  limits: RateLimits | null
  requests: RequestCounts
  /** why the node should get no traffic now, null when it should */
  notReady: () => string | null
}

/** Parts of the memory for what is already serialised that keep whole answers: of the catalogue, and of listings. */
const KEPT_ITEMS_SHARE = 0.225
const KEPT_LISTINGS_SHARE = 0.1
/** Bytes up to which an answer is compressed in one go: more than a page of 20. */
const COMPRESSED_AT_ONCE = 32 * 1024

const PLUS_ROUTES: Route<PublicCtx>[] = [...collectionRoutes, ...webhookRoutes]

/** Builds the public listener; the caller listens and closes. */
export async function publicServer(node: PublicNode): Promise<FastifyInstance> {
  const app = createServer({ log: node.log, trustProxy: node.config.trustProxy, cors: corsHeaders(node.config.corsOrigins) })
  node.requests.watch(app)
  await app.register(compress, {
    // Bodies of requests are unpacked where they are parsed (http/unpack.ts).
    global: true, globalDecompression: false, threshold: 1_024, syncThreshold: COMPRESSED_AT_ONCE, encodings: ['br', 'gzip'], brotliOptions: { params: { 1: 4 } },
  })
  const url = node.config.publicUrl ?? `http://127.0.0.1:${node.config.port}`
  await addReference(app, {
    page: '/docs',
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
  addPages(app, node)
  const graphql = addGraphql(app, node)
  await app.register(
    async (scope) => {
      addGate(scope, node.keys, node.limits)
      keepCompressed(scope)
      scope.setNotFoundHandler((request) => {
        throw new ServiceError('NOT_FOUND', `There is no ${request.method} ${request.url.split('?', 1)[0]}`)
      })
      registerRoutes(scope, catalogueRoutes(node.catalogue), {
        ctx: (request) => ({ viewer: viewerOf(request), catalogue: node.catalogue }),
        security: 'apiKey',
      })
      registerRoutes(scope, [...priceRoutes, ...PLUS_ROUTES, ...listingRoutes(node.listings)], { ctx: publicContext(node), security: 'apiKey' })
    },
    { prefix: '/api/v1' },
  )
  await app.ready()
  answerReadsDirectly(app, directGate(node.keys, node.limits), node.requests, publicReads(node))
  graphql.answerDirectly()
  return app
}

/** The reads that are asked most. */
function publicReads({ config, catalogue, listings }: PublicNode): Read[] {
  const prefix = '/api/v1'
  const readyBytes = config.readyBytesMb * 1024 * 1024
  return [
    ...directReads({
      prefix,
      routes: catalogueRoutes(catalogue),
      ctx: (viewer) => ({ viewer, catalogue }),
      kindOf: shapeFor,
      kept: new KeptAnswers(readyBytes * KEPT_ITEMS_SHARE, () => catalogue.version),
    }),
    ...directReads({
      prefix,
      routes: listingReads(listings),
      ctx: (viewer) => ({ viewer, listings }),
      kindOf: () => 'plus',
      kept: new KeptAnswers(readyBytes * KEPT_LISTINGS_SHARE, () => listings.version),
    }),
  ]
}

function health(app: FastifyInstance, node: PublicNode): void {
  const schema = { hide: true } as object
  app.get('/health/live', { schema }, () => ({ success: true, data: { status: 'live' } }))
  app.get('/health/ready', { schema }, () => {
    const reason = node.notReady()
    if (reason) throw new ServiceError('UNAVAILABLE', reason)
    return { success: true, data: { status: 'ready' } }
  })
  registerOtherMethods(app, '/health/live', ['GET'])
  registerOtherMethods(app, '/health/ready', ['GET'])
}
