// Answers the reads that are asked most before Fastify does, as it would; whatever is not plain success is left to it.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Keyring } from '#accounts/keyring.ts'
import { type Allowance, rateLimitHeaders, type RateLimits } from '#accounts/rate-limits.ts'
import { call, type HasViewer, type Viewer } from '#core/verb.ts'
import { parseQuery } from '#http/query.ts'
import type { RequestCounts } from '#http/request-counts.ts'
import { inputOf, JSON_TYPE, type ReadyAnswer, type Route } from '#http/routes.ts'
import { requestIdOf } from '#http/server.ts'

export interface DirectReads<Ctx extends HasViewer> {
  prefix: string
  /** those with `ready` whose path is fixed or ends in one number are answered here */
  routes: Route<Ctx>[]
  ctx: (viewer: Viewer) => Ctx
  keys: Keyring
  limits: RateLimits | null
  requests: RequestCounts
}

interface Read {
  route: string
  /** name of the number at the path's end, null for a fixed path */
  parameter: string | null
  answer: (viewer: Viewer, params: object, query: string) => ReadyAnswer
}

/** Takes these reads from a listener that is ready, before it listens. */
export function answerDirectly<Ctx extends HasViewer>(app: FastifyInstance, reads: DirectReads<Ctx>): void {
  const { server } = app
  const { keys, limits, requests } = reads
  const find = finder(reads)
  const [rest] = server.listeners('request') as [(request: IncomingMessage, response: ServerResponse) => void]

  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const startedMs = performance.now()
    const url = request.url!
    const found = isPlain(request) && server.listening ? find(url) : null
    if (found === null) return rest(request, response)
    const { read, params, query } = found
    let ready: ReadyAnswer
    let counted: Promise<Allowance> | null
    try {
      const viewer = keys.find(request.headers.authorization)
      if (viewer instanceof Promise) {
        // Who asks for the same key meanwhile shares the query, and its failure.
        viewer.catch(() => {})
        return rest(request, response)
      }
      ready = read.answer(viewer, params, query)
      // Counted last: what fails is counted where it is answered. Over the limit, one count more tells nobody anything.
      counted = limits?.consume(viewer) ?? null
    } catch {
      return rest(request, response)
    }
    const send = (allowance: Allowance | null) => {
      const body = ready.bytes()
      response.writeHead(200, [
        'content-type', JSON_TYPE,
        'x-request-id', requestIdOf(request),
        'etag', ready.tag,
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

/** Compressed answers, conditions and everything but GET take the other way. */
function isPlain({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers['accept-encoding'] === undefined && headers['if-none-match'] === undefined
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
