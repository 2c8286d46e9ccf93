// Answers queries before Fastify does, as it would, from memory where they came before; whatever is not plain success is
// left to it.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { directGate, viewerOf } from '#accounts/gate.ts'
import type { Keyring } from '#accounts/keyring.ts'
import type { RateLimits } from '#accounts/rate-limits.ts'
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import type { Market } from '#core/markets.ts'
import type { Viewer } from '#core/verb.ts'
import { addLane, answerDirectly } from '#http/direct.ts'
import { textOfBody } from '#http/json.ts'
import { type KeptAnswer, type KeptAnswers, mayBeKept } from '#http/kept-answers.ts'
import type { RequestCounts } from '#http/request-counts.ts'
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

/** Tells that the answer to a query, made just now, may be kept once it is compressed. */
export function queryMayBeKept(request: FastifyRequest, kept: KeptAnswers): void {
  const { method, raw, body } = request
  if (method !== 'POST' || raw.headers['accept-encoding'] === undefined) return
  mayBeKept(raw, kept, keyOf(viewerOf(request), raw.headers, body as string))
}

/** Takes queries by POST from a listener that is ready, before it listens. */
export function answerQueriesDirectly(app: FastifyInstance, node: QueryNode, rules: GraphqlRules, kept: KeptAnswers): void {
  const { keys, limits, requests, catalogue, config } = node
  const gate = directGate(keys, limits)
  const counts = new Map(PATHS.map((path) => [path, requests.counter('POST', path, 200)]))

  const answerOf = (viewer: Viewer, headers: IncomingHttpHeaders, body: string): KeptAnswer | null => {
    const key = keyOf(viewer, headers, body)
    const { version } = kept
    const known = kept.get(key, version)
    if (known) return known
    const type = answerType(headers.accept)
    if (!type || headers['accept-encoding'] !== undefined) return null
    const ctx = { viewer, catalogue, currencies: config.sourceCurrencies }
    const made = answerTo(readBody(body), { ctx, readOnly: true }, rules)
    if (made instanceof Promise || made.failed) return null
    const answer = { headers: ['content-type', contentTypeOf(type)], body: made.body }
    kept.offer(key, version, false, () => ({ ...answer, body: Buffer.from(made.body) }))
    return answer
  }

  addLane(app, (exchange) => {
    const { request, rest } = exchange
    if (!isQuery(request)) return rest()
    const startedMs = performance.now()
    request.once('readable', () => {
      const bytes = request.read() as Buffer | null
      // Whoever reads the request next finds it whole.
      if (bytes) request.unshift(bytes)
      if (bytes?.length !== Number(request.headers['content-length'])) return rest()
      const answerFor = (viewer: Viewer) => answerOf(viewer, request.headers, textOfBody(request.headers['content-type']!, bytes))
      answerDirectly(gate, exchange, answerFor, () => counts.get(request.url!)!(performance.now() - startedMs))
    })
  })
}

/** Whether a request can be a query as most clients send it: JSON of a length told beforehand. */
function isQuery({ method, url, headers }: IncomingMessage): boolean {
  if (method !== 'POST' || !PATHS.includes(url!) || !JSON_BODIES.has(headers['content-type'] ?? '')) return false
  const length = Number(headers['content-length'])
  // What has no body ends by being looked at, and whoever looks next would wait for its end for ever.
  return length > 0 && length <= BODY_LIMIT
}

/** Who gets the same answer to the same body: limits, cost and fields go by plan. */
function keyOf(viewer: Viewer, headers: IncomingHttpHeaders, body: string): string {
  const kind = viewer.kind === 'operator' ? 'operator' : viewer.plan
  return `${kind}\n${String(headers.accept)}\n${String(headers['accept-encoding'])}\n${body}`
}
