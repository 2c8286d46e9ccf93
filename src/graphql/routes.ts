// GraphQL over HTTP on the public listener: one endpoint for both adapters, and GraphiQL for browsers.
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { addGate, type TestKeys } from '#accounts/keys/gate.ts'
import type { Keyring } from '#accounts/keys/keyring.ts'
import type { RateLimits } from '#accounts/limits/rate-limits.ts'
import type { Log } from '#core/context.ts'
import { publicContext, type PublicContextNode } from '#public-context.ts'
import { demoKeyFor } from '#http/demo-key.ts'
import { failuresOf } from '#http/failures.ts'
import { clientAddress, type Trust, trustOf } from '#http/client-address.ts'
import type { FastEndpoint, ReadRequest } from '#http/fast-path.ts'
import { handleRequest, bareCredential } from '#http/fastify-adapter.ts'
import type { Speedup } from '#core/speedups.ts'
import { disconnectOf } from '#http/respond.ts'
import { registerOtherMethods } from '#http/routes.ts'
import { errorHandler, requestIdOf } from '#http/server.ts'
import { unpackBody } from '#http/body/unpack.ts'
import { Documents } from './documents.ts'
import { serviceError } from './execution/errors.ts'
import { addGraphiql, sendGraphiql } from './graphiql.ts'
import { ItemBytes } from './execution/item-bytes.ts'
import { BODY_LIMIT } from './execution/limits.ts'
import { JSON_TYPE, wantsPage } from './execution/media-types.ts'
import { Output } from './execution/output.ts'
import { graphqlEndpoint } from './respond.ts'
import { graphqlSchema } from './schema.ts'

export interface GraphqlNode extends PublicContextNode {
  config: PublicContextNode['config'] & { without: ReadonlySet<Speedup>; trustProxy: boolean | string }
  log: Log
  keys: Keyring
  limits: RateLimits | null
  /** null inside of a sandbox */
  testKeys: TestKeys | null
  /** the demo's key to fill in; null outside the demo */
  demoKey: string | null
}

const PATHS = ['/graphql', '/graphql/v3']

/** Bytes of items by selection. */
const CACHED_ITEMS = 32 * 1024 * 1024

/** Content types that Fastify's parser accepts, as clients write them. */
const JSON_BODIES = new Set([JSON_TYPE, `${JSON_TYPE}; charset=utf-8`, `${JSON_TYPE};charset=utf-8`, `${JSON_TYPE}; charset=UTF-8`])

/**
 * Adds the GraphQL endpoint to the public listener.
 * @returns the endpoint for the fast path
 */
export function addGraphql(app: FastifyInstance, node: GraphqlNode): FastEndpoint[] {
  const schema = graphqlSchema()
  const { without } = node.config
  const itemBytes = without.has('graphql-items') ? null : new ItemBytes(CACHED_ITEMS)
  const failed = failuresOf(node.log, (error) => ({ errors: [serviceError(error)] }))
  const endpoint = graphqlEndpoint({
    catalogue: node.catalogue,
    currencies: node.config.sourceCurrencies,
    without,
    rules: {
      schema,
      documents: new Documents(schema, itemBytes),
      compiles: !without.has('graphql-compiler'),
      itemBytes,
      output: new Output(),
      logged: (cause) => node.log.error({ err: cause }, 'GraphQL field failed'),
    },
    ctx: publicContext(node),
    failed,
  })
  addGraphiql(app)
  app.register(async (scope) => {
    // Before the gate: the page needs no key, but its requests do.
    scope.addHook('onRequest', (request, reply, done) => {
      if ((request.method === 'GET' || request.method === 'HEAD') && wantsPage(request.headers.accept))
        sendGraphiql(reply, demoKeyFor(request, node.demoKey))
      else done()
    })
    addGate(scope, node.keys, node.limits, undefined, node.testKeys)
    scope.setErrorHandler(errorHandler(failed))
    scope.removeAllContentTypeParsers()
    // The endpoint parses the bytes itself, for both adapters.
    scope.addContentTypeParser(JSON_TYPE, { parseAs: 'buffer' }, ({ headers, routeOptions }: FastifyRequest, body: Buffer) =>
      unpackBody(headers['content-encoding'], body, routeOptions.bodyLimit),
    )
    for (const url of PATHS) {
      const declared = { schema: { hide: true } as object, bodyLimit: BODY_LIMIT, config: { operation: endpoint.operation } }
      scope.get(url, declared, (request, reply) => handleRequest(endpoint.respond, request, reply))
      scope.post(url, declared, (request, reply) => handleRequest(endpoint.respond, request, reply))
      registerOtherMethods(scope, url, ['GET', 'POST'])
    }
  })
  const trust = trustOf(node.config.trustProxy)
  return PATHS.map((path) => ({ route: path, endpoint, match: (request) => matchBody(path, request, trust) }))
}

/** Matches a JSON body of known length, and reads it if it has arrived completely; Fastify reads all other requests. */
function matchBody(path: string, request: IncomingMessage, trust: Trust): ReadRequest | null {
  const { method, url, headers } = request
  if (url !== path || method !== 'POST' || !JSON_BODIES.has(headers['content-type'] ?? '')) return null
  const length = Number(headers['content-length'])
  // A request without a body ends only when it is read; otherwise the next reader would wait forever.
  if (!(length > 0 && length <= BODY_LIMIT) || headers['content-encoding'] !== undefined) return null
  return (serve) =>
    void request.once('readable', () => {
      const bytes = request.read() as Buffer | null
      if (bytes?.length !== length) {
        if (bytes) request.unshift(bytes)
        return serve(null)
      }
      serve({
        id: requestIdOf(request),
        method,
        url,
        headers,
        params: {},
        query: () => ({}),
        body: bytes,
        onDisconnect: disconnectOf(request),
        address: () => clientAddress(request, trust),
        credential: () => bareCredential(headers.authorization ?? null),
      })
    })
}
