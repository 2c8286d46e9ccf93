// The operator API's own listener: operator tokens on everything below /operator/v1, and its OpenAPI document.
import swagger from '@fastify/swagger'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { addGate, viewerOf } from '#accounts/gate.ts'
import type { Keyring } from '#accounts/keyring.ts'
import type { Log } from '#core/context.ts'
import type { ChangeFeed } from '#db/change-feed.ts'
import type { WriteCtx } from '#db/change.ts'
import type { Db } from '#db/schema.ts'
import { idempotencyOf } from '#http/idempotency-key.ts'
import { registerOtherMethods, registerRoutes } from '#http/routes.ts'
import { answerNotFound, createServer } from '#http/server.ts'
import packageJson from '../../package.json' with { type: 'json' }
import type { Config } from '#config.ts'
import { accountRoutes } from './account-routes.ts'
import { auditRoutes } from './audit-routes.ts'

const OPENAPI_PATH = '/operator/openapi.json'
const ROUTES = [...accountRoutes, ...auditRoutes]

/** What the listener needs of the node that it belongs to. */
export interface OperatorNode {
  config: Pick<Config, 'trustProxy'>
  db: Db
  log: Log
  feed: Pick<ChangeFeed, 'pull'>
  operators: Keyring
  now: () => Date
}

/** The operator's server, ready to listen. */
export async function operatorServer(node: OperatorNode): Promise<FastifyInstance> {
  const app = createServer({ log: node.log, trustProxy: node.config.trustProxy })
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Mintmark operator API',
        version: packageJson.version,
        description: 'For the business that runs the service: its shop, checkout, feeds and back office.',
      },
      components: {
        securitySchemes: {
          operatorToken: { type: 'http', scheme: 'bearer', description: 'An operator token, never an API key' },
        },
      },
    },
  })
  const ctx = (request: FastifyRequest): WriteCtx => {
    const viewer = viewerOf(request)
    return {
      db: node.db,
      viewer,
      now: node.now,
      requestId: request.id,
      idempotency: idempotencyOf(request, viewer),
      caughtUp: () => node.feed.pull(),
    }
  }
  await app.register(
    async (api) => {
      addGate(api, node.operators, null)
      api.setNotFoundHandler(answerNotFound)
      registerRoutes(api, ROUTES, { ctx, security: 'operatorToken' })
    },
    { prefix: '/operator/v1' },
  )
  app.get(OPENAPI_PATH, { schema: { hide: true } }, () => app.swagger())
  registerOtherMethods(app, OPENAPI_PATH, ['GET'])
  return app
}
