// Answers queries before Fastify does, as it would, from memory where they came before; whatever is not plain success is
// left to it.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { viewerOf } from '#accounts/gate.ts'
import type { Keyring } from '#accounts/keyring.ts'
import { type Allowance, rateLimitHeaders, type RateLimits } from '#accounts/rate-limits.ts'
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { freePageMemory } from '#catalogue/snapshot/page-memory.ts'
import type { Market } from '#core/markets.ts'
import type { Viewer } from '#core/verb.ts'
import { keepCompressed, type KeptAnswer, type KeptAnswers, mayBeKept } from '#http/kept-answers.ts'
import type { RequestCounts } from '#http/request-counts.ts'
import { requestIdOf } from '#http/server.ts'
import { answerTo, type GraphqlRules } from './answer.ts'
import { BODY_LIMIT } from './limits.ts'
import { answerType, contentTypeOf, JSON_TYPE } from './media-types.ts'
import { readBody } from './request.ts'

export const PATHS = ['/graphql', '/graphql/v3']

/** Content types that Fastify's parser takes, as clients write them. */
const JSON_BODIES = new Set([JSON_TYPE, `${JSON_TYPE}; charset=utf-8`, `${JSON_TYPE};charset=utf-8`, `${JSON_TYPE}; charset=UTF-8`])

export interface QueryNode {
  config: { sourceCurrencies: Readonly<Record<Market, string>> }
  catalogue: Catalogue
  keys: Keyring
  limits: RateLimits | null
  requests: RequestCounts
}

/** Tells that the answer to a query, made from this version, may be kept once it is compressed. */
export function queryMayBeKept({ method, raw }: FastifyRequest, version: number): void {
  if (method === 'POST' && raw.headers['accept-encoding'] !== undefined) mayBeKept(raw, version)
}

/** Lets answers of a scope be kept once they are compressed; before its routes are registered. */
export function keepQueries(scope: FastifyInstance, kept: KeptAnswers): void {
  keepCompressed(scope, kept, (request) => keyOf(viewerOf(request), request.raw.headers, request.body as string))
}

/** Takes queries by POST from a listener that is ready, before it listens. */
export function answerQueriesDirectly(app: FastifyInstance, node: QueryNode, rules: GraphqlRules, kept: KeptAnswers): void {
  const { server } = app
  const { keys, limits, requests, catalogue, config } = node
  const [rest] = server.listeners('request') as [(request: IncomingMessage, response: ServerResponse) => void]

  const answerOf = (viewer: Viewer, headers: IncomingHttpHeaders, body: string): KeptAnswer | null => {
    const key = keyOf(viewer, headers, body)
    const known = kept.get(key)
    if (known) return known
    const type = answerType(headers.accept)
    if (!type || headers['accept-encoding'] !== undefined) return null
    const ctx = { viewer, catalogue, currencies: config.sourceCurrencies }
    const made = answerTo(readBody(body), { ctx, readOnly: true }, rules)
    if (made instanceof Promise || made.failed) return null
    const answer = { headers: ['content-type', contentTypeOf(type)], body: made.body }
    kept.offer(key, kept.version, false, () => ({ ...answer, body: Buffer.from(made.body) }))
    return answer
  }

  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    if (!isQuery(request) || !server.listening) return rest(request, response)
    const startedMs = performance.now()
    request.once('readable', () => {
      const bytes = request.read() as Buffer | null
      // Whoever reads the request next finds it whole.
      if (bytes) request.unshift(bytes)
      if (bytes?.length !== Number(request.headers['content-length'])) return rest(request, response)
      let answered: KeptAnswer | null
      let counted: Promise<Allowance> | null
      try {
        const viewer = keys.find(request.headers.authorization)
        if (viewer instanceof Promise) {
          // Who asks for the same key meanwhile shares the query, and its failure.
          viewer.catch(() => {})
          return rest(request, response)
        }
        answered = answerOf(viewer, request.headers, bytes.toString())
        if (!answered) return rest(request, response)
        // Counted last: what fails is counted where it is answered. Over the limit, one count more tells nobody anything.
        counted = limits?.consume(viewer) ?? null
      } catch {
        return rest(request, response)
      }
      const { headers, body } = answered
      const send = (allowance: Allowance | null) => {
        response.writeHead(200, [
          ...headers,
          'x-request-id', requestIdOf(request),
          ...(allowance ? Object.entries(rateLimitHeaders(allowance)).flat() : []),
          'content-length', String(body.length),
        ])
        response.end(body)
        // Mostly the system has taken all of it by now, and the next answer may use the memory.
        if (response.writableLength === 0) freePageMemory(body)
        requests.add('POST', request.url!, 200, performance.now() - startedMs)
      }
      if (counted) counted.then(send, () => rest(request, response))
      else send(null)
    })
  }
  server.removeListener('request', rest)
  server.on('request', answer)
}

/** Whether a request can be a query as most clients send it: JSON of a length told beforehand. */
function isQuery({ method, url, headers }: IncomingMessage): boolean {
  if (method !== 'POST' || !PATHS.includes(url!) || !JSON_BODIES.has(headers['content-type'] ?? '')) return false
  const length = headers['content-length']
  return length !== undefined && Number(length) <= BODY_LIMIT
}

/** Who gets the same answer to the same body: limits, cost and fields go by plan. */
function keyOf(viewer: Viewer, headers: IncomingHttpHeaders, body: string): string {
  const kind = viewer.kind === 'operator' ? 'operator' : viewer.plan
  return `${kind}\n${String(headers.accept)}\n${String(headers['accept-encoding'])}\n${body}`
}
