// Fast path on plain node:http for the most frequent reads, which skip the overhead of Fastify.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { monotonicMs } from '#core/process/time-and-chance.ts'
import { nameRequest } from '#core/tracing/spans.ts'
import type { Operation, Viewer } from '#core/verb.ts'
import { bareCredential } from './fastify-adapter.ts'
import { clientAddress, type Trust } from './client-address.ts'
import type { CorsHeaders } from './cors.ts'
import { parseQuery } from './query.ts'
import type { RequestCounts } from './request-counts.ts'
import { type ApiRequest, disconnectOf, type Endpoint, type MaybePromise } from './respond.ts'
import type { Headers, Response } from './response.ts'
import { hostProblem, requestIdOf } from './server.ts'

export interface FastPathRules {
  /** the caller, if the key is valid and cached; null: Fastify decides */
  cachedCaller: (authorization: string | undefined) => Viewer | null
  /** rate-limit headers; throws or rejects if the caller may not continue */
  allow: (viewer: Viewer, operation: Operation) => MaybePromise<Headers>
  requests: RequestCounts
}

/** An endpoint on the fast path. */
export interface FastEndpoint {
  /** its name in metrics */
  route: string
  endpoint: Endpoint
  /** How to read a request for this endpoint; null if it is for another one. */
  match: (request: IncomingMessage) => ReadRequest | null
}

/** Reads the request and passes it to `serve`, or passes null if Fastify must read it. */
export type ReadRequest = (serve: (apiRequest: ApiRequest | null) => void) => void

type Listener = (request: IncomingMessage, response: ServerResponse) => void

/** Installs the endpoints in front of a complete listener's request handler, before it listens. */
export function addFastPath(app: FastifyInstance, endpoints: readonly FastEndpoint[], rules: FastPathRules): void {
  const { server } = app
  const [fastify] = server.listeners('request') as [Listener]
  const served = endpoints.map((one) => ({ ...one, count: rules.requests.counter(one.route) }))
  server.removeListener('request', fastify)
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const startedMs = monotonicMs()
    // A closing listener announces it in its responses, and invalid Host headers are rejected: Fastify does both.
    if (!server.listening || hostProblem(request) !== null) return fastify(request, response)
    for (const { route, endpoint, match, count } of served) {
      const read = match(request)
      if (read === null) continue
      // Fastify's gate looks up all other keys, and those of all other requests.
      const viewer = rules.cachedCaller(request.headers.authorization)
      if (viewer === null) break
      return read((apiRequest) => {
        if (apiRequest === null) fastify(request, response)
        else {
          nameRequest(apiRequest.method, route, apiRequest.id)
          answer({ endpoint, apiRequest, viewer, response, cors: app.cors, startedMs, count }, rules)
        }
      })
    }
    fastify(request, response)
  })
}

interface Exchange {
  endpoint: Endpoint
  apiRequest: ApiRequest
  viewer: Viewer
  response: ServerResponse
  cors: CorsHeaders | null
  startedMs: number
  count: (method: string, status: number, milliseconds: number) => void
}

function answer(exchange: Exchange, { allow }: FastPathRules): void {
  const { endpoint, apiRequest, viewer, response } = exchange
  const refuse = (error: unknown): void => {
    if (response.headersSent) response.destroy()
    else send(exchange, endpoint.refuse(error, apiRequest), NONE)
  }
  const respond = (limits: Headers) => {
    const answered = endpoint.respond(viewer, apiRequest)
    if (answered instanceof Promise) void answered.then((later) => send(exchange, later, limits)).catch(refuse)
    else send(exchange, answered, limits)
  }
  try {
    const allowed = allow(viewer, endpoint.operation)
    // Bodies are serialised while they are sent, which can also fail.
    if (allowed instanceof Promise) allowed.then(respond).catch(refuse)
    else respond(allowed)
  } catch (error) {
    refuse(error)
  }
}

const NONE: Headers = []
/** Bodies up to this size are sent as text together with their headers: one write instead of two. */
const SHORT = 4_096

/** Writes a response and counts it. Bodies are never streams here. */
function send({ apiRequest, response, cors, startedMs, count }: Exchange, answered: Response, limits: Headers): void {
  const { status, headers, etag } = answered
  const body = (typeof answered.body === 'function' ? answered.body() : answered.body) as Buffer | null
  const all = [...headers]
  if (etag) all.push('etag', etag)
  if (cors) all.push(...cors(apiRequest.headers.origin))
  all.push('x-request-id', apiRequest.id, ...limits)
  if (body !== null) all.push('content-length', String(body.length))
  response.writeHead(status, all)
  if (body === null) response.end()
  else if (body.length > SHORT) response.end(body)
  else response.end(body.toString('latin1'), 'latin1')
  count(apiRequest.method, status, monotonicMs() - startedMs)
}

const QUESTION_MARK = 63
const MAX_NUMBER_LENGTH = 10

/**
 * Matches a GET of a fixed path, or of one that ends in a number.
 * @param path as routes declare it: `/items` or `/items/:id`
 * @param trust which senders of forwarded addresses are trusted
 */
export function fastRead(prefix: string, path: string, endpoint: Endpoint, trust: Trust): FastEndpoint {
  const [, fixed = '', parameter = null] = /^([^:]*)(?::(\w+))?$/.exec(path) ?? []
  const start = prefix + fixed
  const match: FastEndpoint['match'] = (request) => {
    const url = request.url!
    // Paths are compared instead of looked up, because V8 would first intern the text for a lookup.
    if (request.method !== 'GET' || !url.startsWith(start)) return null
    const from = start.length
    const to = parameter === null ? from : endOfDigits(url, from)
    if (to < url.length && url.charCodeAt(to) !== QUESTION_MARK) return null
    if (parameter !== null && (to === from || to - from > MAX_NUMBER_LENGTH)) return null
    return (serve) =>
      serve({
        id: requestIdOf(request),
        method: 'GET',
        url,
        headers: request.headers,
        params: parameter === null ? NO_PARAMS : { [parameter]: url.slice(from, to) },
        query: () => (to === url.length ? NO_PARAMS : parseQuery(url.slice(to + 1))),
        onDisconnect: disconnectOf(request),
        address: () => clientAddress(request, trust),
        credential: () => bareCredential(request.headers.authorization ?? null),
      })
  }
  return { route: prefix + path, endpoint, match }
}

const NO_PARAMS: Readonly<Record<string, string>> = {}

function endOfDigits(text: string, from: number): number {
  let to = from
  while (to < text.length && text.charCodeAt(to) >= 48 && text.charCodeAt(to) <= 57) to += 1
  return to
}
