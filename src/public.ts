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
import { keepCompressed, KeptAnswers } from '#http/kept-answers.ts'
import { addReference } from '#http/reference.ts'
import { registerOtherMethods, registerRoutes, type Route } from '#http/routes.ts'
import type { RequestCounts } from '#http/request-counts.ts'
import { createServer } from '#http/server.ts'
import { addGraphql } from './graphql/routes.ts'
import { catalogueRoutes } from './rest/catalogue-routes.ts'
import { collectionRoutes } from './rest/collection-routes.ts'
import { apiDescription, NOTIFICATIONS, TAGS } from './rest/description.ts'
import { answerReadsDirectly, directReads } from './rest/direct-reads.ts'
import { listingRoutes } from './rest/listing-routes.ts'
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

/** Part of the memory for items already serialised that keeps whole answers. */
const KEPT_SHARE = 1 / 8
/** Bytes up to which an answer is compressed in one go: more than a page of 20. */
const COMPRESSED_AT_ONCE = 32 * 1024

const PLUS_ROUTES: Route<PublicCtx>[] = [...collectionRoutes, ...webhookRoutes]

/** Builds the public listener; the caller listens and closes. */
export async function publicServer(node: PublicNode): Promise<FastifyInstance> {
  const app = createServer({ log: node.log, trustProxy: node.config.trustProxy })
  node.requests.watch(app)
  const itemRoutes = catalogueRoutes(node.catalogue)
  const kept = new KeptAnswers(node.config.readyBytesMb * KEPT_SHARE * 1024 * 1024, () => node.catalogue.version)
  await app.register(compress, {
    global: true, threshold: 1_024, syncThreshold: COMPRESSED_AT_ONCE, encodings: ['br', 'gzip'], brotliOptions: { params: { 1: 4 } },
  })
  const url = node.config.publicUrl ?? `http://127.0.0.1:${node.config.port}`
  await addReference(app, {
    page: '/docs',
    document: '/openapi.json',
    url,
    credential: '<API_KEY>',
    openapi: {
      info: { title: 'Mintmark API', version: 'v1', description: apiDescription(url) },
      ...(node.config.publicUrl && { servers: [{ url: node.config.publicUrl }] }),
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
      registerRoutes(scope, itemRoutes, {
        ctx: (request) => ({ viewer: viewerOf(request), catalogue: node.catalogue }),
        security: 'apiKey',
      })
      registerRoutes(scope, [...priceRoutes, ...PLUS_ROUTES, ...listingRoutes(node.listings)], { ctx: publicContext(node), security: 'apiKey' })
    },
    { prefix: '/api/v1' },
  )
  await app.ready()
  const { catalogue, keys, limits, requests } = node
  answerReadsDirectly(app, directGate(keys, limits), requests, [
    ...directReads({ prefix: '/api/v1', routes: itemRoutes, ctx: (viewer) => ({ viewer, catalogue }), kindOf: shapeFor, kept }),
  ])
  graphql.answerDirectly()
  return app
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
