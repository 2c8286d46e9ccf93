// Answers the reads that are asked most before Fastify does, as it would; whatever is not plain success is left to it.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Keyring } from '#accounts/keyring.ts'
import { type Allowance, rateLimitHeaders, type RateLimits } from '#accounts/rate-limits.ts'
import { call, type HasViewer, mayCall, type Viewer } from '#core/verb.ts'
import { type KeptAnswer, keptAnswer, type KeptAnswers } from '#http/kept-answers.ts'
import { parseQuery } from '#http/query.ts'
import type { RequestCounts } from '#http/request-counts.ts'
import { inputOf, JSON_TYPE, type ReadyAnswer, type Route } from '#http/routes.ts'
import { requestIdOf } from '#http/server.ts'

export interface DirectReads<Ctx extends HasViewer> {
  prefix: string
  /** those with `ready` whose path is fixed or ends in one number are answered here */
  routes: Route<Ctx>[]
  ctx: (viewer: Viewer) => Ctx
  /** viewers that get the same answers have the same name */
  kindOf: (viewer: Viewer) => string
  keys: Keyring
  limits: RateLimits | null
  requests: RequestCounts
  kept: KeptAnswers
}

interface Read {
  route: string
  /** name of the number at the path's end, null for a fixed path */
  parameter: string | null
  check: (viewer: Viewer) => void
  answer: (viewer: Viewer, params: object, query: string) => ReadyAnswer
}

/** Version that the answers to requests were made from which Fastify answers, if they may be kept. */
const madeFrom = new WeakMap<IncomingMessage, number>()

/** Lets answers of a scope be kept once they are compressed; before its routes are registered. */
export function keepAnswers(scope: FastifyInstance, kept: KeptAnswers, kindOf: (viewer: Viewer) => string): void {
  const keep = (request: FastifyRequest, reply: Parameters<typeof keptAnswer>[0], payload: unknown, done: (error: null, payload: unknown) => void) => {
    const version = madeFrom.get(request.raw)
    if (version !== undefined && reply.statusCode === 200 && Buffer.isBuffer(payload)) {
      kept.offer(keyOf(kindOf(request.viewer!), request.raw), version, true, () => keptAnswer(reply, payload))
    }
    done(null, payload)
  }
  // A hook of the route's own runs after those that compress.
  scope.addHook('onRoute', (route) => {
    route.onSend = [route.onSend ?? [], keep].flat()
  })
}

/** Takes these reads from a listener that is ready, before it listens. */
export function answerDirectly<Ctx extends HasViewer>(app: FastifyInstance, reads: DirectReads<Ctx>): void {
  const { server } = app
  const { keys, limits, requests, kept, kindOf } = reads
  const find = finder(reads)
  const [rest] = server.listeners('request') as [(request: IncomingMessage, response: ServerResponse) => void]

  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const startedMs = performance.now()
    const { headers } = request
    const found = request.method === 'GET' && headers['if-none-match'] === undefined && server.listening ? find(request.url!) : null
    if (found === null) return rest(request, response)
    const { read, params, query } = found
    const encoded = headers['accept-encoding'] !== undefined
    // One item as it is costs no more to make than to find.
    const mayKeep = encoded || read.parameter === null
    let answered: KeptAnswer
    let counted: Promise<Allowance> | null
    try {
      const viewer = keys.find(headers.authorization)
      if (viewer instanceof Promise) {
        // Who asks for the same key meanwhile shares the query, and its failure.
        viewer.catch(() => {})
        return rest(request, response)
      }
      read.check(viewer)
      const key = mayKeep ? keyOf(kindOf(viewer), request) : ''
      const known = mayKeep ? kept.get(key) : null
      if (!known && encoded) {
        madeFrom.set(request, kept.version)
        return rest(request, response)
      }
      answered = known ?? plainAnswer(read.answer(viewer, params, query))
      if (!known && mayKeep) kept.offer(key, kept.version, false, () => ({ ...answered, body: Buffer.from(answered.body) }))
      // Counted last: what fails is counted where it is answered. Over the limit, one count more tells nobody anything.
      counted = limits?.consume(viewer) ?? null
    } catch {
      return rest(request, response)
    }
    const send = (allowance: Allowance | null) => {
      const { headers, body } = answered
      response.writeHead(200, [
        ...headers,
        'x-request-id', requestIdOf(request),
        ...(allowance ? Object.entries(rateLimitHeaders(allowance)).flat() : []),
        'content-length', String(body.length),
      ])
      response.end(body)
      requests.add('GET', read.route, 200, performance.now() - startedMs)
    }
    if (counted) counted.then(send, () => rest(request, response))
    else send(null)
  }
  server.removeListener('request', rest)
  server.on('request', answer)
}

function plainAnswer({ tag, bytes }: ReadyAnswer): KeptAnswer {
  return { headers: ['content-type', JSON_TYPE, 'etag', tag], body: bytes() }
}

function keyOf(kind: string, { url, headers }: IncomingMessage): string {
  return `${kind}\n${String(headers['accept-encoding'])}\n${url}`
}

const NUMBER = /^\d{1,10}$/

function finder<Ctx extends HasViewer>({ prefix, routes, ctx }: DirectReads<Ctx>) {
  const byPath = new Map<string, Read>()
  for (const route of routes) {
    const [, start, parameter = null] = /^([^:]*)(?::(\w+))?$/.exec(route.path) ?? []
    if (start === undefined || !route.ready || route.method !== 'GET') continue
    const { verb, ready } = route
    const input = inputOf(route)
    byPath.set(prefix + start, {
      route: prefix + route.path,
      parameter,
      check: (viewer) => mayCall(viewer, verb.needs),
      answer: (viewer, params, query) => {
        const result: unknown = call(verb, ctx(viewer), input({ params, query: parseQuery(query) }, verb.fails))
        return ready(result as never)
      },
    })
  }
  return (url: string): { read: Read; params: object; query: string } | null => {
    const end = url.indexOf('?')
    const path = end < 0 ? url : url.slice(0, end)
    const query = end < 0 ? '' : url.slice(end + 1)
    const fixed = byPath.get(path)
    if (fixed) return fixed.parameter === null ? { read: fixed, params: {}, query } : null
    const cut = path.lastIndexOf('/') + 1
    const read = byPath.get(path.slice(0, cut))
    if (!read?.parameter || !NUMBER.test(path.slice(cut))) return null
    return { read, params: { [read.parameter]: path.slice(cut) }, query }
  }
}
