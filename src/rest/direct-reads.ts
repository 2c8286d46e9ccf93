// Answers the reads that are asked most before Fastify does, as it would; whatever is not plain success is left to it.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Keyring } from '#accounts/keyring.ts'
import { type Allowance, rateLimitHeaders, type RateLimits } from '#accounts/rate-limits.ts'
import { freePageMemory } from '#catalogue/snapshot/page-memory.ts'
import { Recent } from '#catalogue/snapshot/recent.ts'
import { call, type HasViewer, mayCall, type Viewer } from '#core/verb.ts'
import { keepCompressed, type KeptAnswer, type KeptAnswers, mayBeKept } from '#http/kept-answers.ts'
import { parseQuery } from '#http/query.ts'
import { addTo, type RequestCounts, type RouteCounts } from '#http/request-counts.ts'
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
  /** the path up to the number at its end */
  start: string
  /** name of that number, null for a fixed path */
  parameter: string | null
  check: (viewer: Viewer) => void
  /** @param number text of the number in the path */
  answer: (viewer: Viewer, number: string, query: string) => ReadyAnswer
  /** answers counted so far, null before the first */
  counts: RouteCounts | null
}

interface Found {
  read: Read
  number: string
  query: string
}

/** Lets answers of a scope be kept once they are compressed; before its routes are registered. */
export function keepAnswers(scope: FastifyInstance, kept: KeptAnswers, kindOf: (viewer: Viewer) => string): void {
  keepCompressed(scope, kept, (request) => keyOf(kindOf(request.viewer!), request.raw))
}

/** Takes these reads from a listener that is ready, before it listens. */
export function answerDirectly<Ctx extends HasViewer>(app: FastifyInstance, reads: DirectReads<Ctx>): void {
  const { server } = app
  const { keys, limits, requests, kept, kindOf } = reads
  const find = finder(reads)
  const [rest] = server.listeners('request') as [(request: IncomingMessage, response: ServerResponse) => void]

  /** The answer as it will be sent, null where Fastify makes it. */
  const answerTo = (request: IncomingMessage, viewer: Viewer, { read, number, query }: Found): KeptAnswer | null => {
    read.check(viewer)
    // As it is, an answer costs no more to make than to find; only compressed ones are worth keeping.
    if (request.headers['accept-encoding'] === undefined) {
      const { tag, bytes } = read.answer(viewer, number, query)
      return { headers: ['content-type', JSON_TYPE, 'etag', tag], body: bytes() }
    }
    const known = kept.get(keyOf(kindOf(viewer), request))
    if (!known) mayBeKept(request, kept.version)
    return known
  }

  const send = (request: IncomingMessage, response: ServerResponse, { headers, body }: KeptAnswer, allowance: Allowance | null) => {
    const fields = [...headers, 'x-request-id', requestIdOf(request), 'content-length', String(body.length)]
    if (allowance) fields.push(...Object.entries(rateLimitHeaders(allowance)).flat())
    response.writeHead(200, fields)
    response.end(body)
    // Mostly the system has taken all of it by now, and the next answer may use the memory.
    if (response.writableLength === 0) freePageMemory(body)
  }

  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const startedMs = performance.now()
    const { headers } = request
    const found = request.method === 'GET' && headers['if-none-match'] === undefined && server.listening ? find(request.url!) : null
    if (found === null) return rest(request, response)
    const { read } = found
    let answered: KeptAnswer | null
    let counted: Promise<Allowance> | null
    try {
      const viewer = keys.find(headers.authorization)
      if (viewer instanceof Promise) {
        // Who asks for the same key meanwhile shares the query, and its failure.
        viewer.catch(() => {})
        return rest(request, response)
      }
      answered = answerTo(request, viewer, found)
      if (!answered) return rest(request, response)
      // Counted last: what fails is counted where it is answered. Over the limit, one count more tells nobody anything.
      counted = limits?.consume(viewer) ?? null
    } catch {
      return rest(request, response)
    }
    const finish = (allowance: Allowance | null) => {
      send(request, response, answered, allowance)
      read.counts ??= requests.of('GET', read.route, 200)
      addTo(read.counts, performance.now() - startedMs)
    }
    if (counted) counted.then(finish, () => rest(request, response))
    else finish(null)
  }
  server.removeListener('request', rest)
  server.on('request', answer)
}

function keyOf(kind: string, { url, headers }: IncomingMessage): string {
  return `${kind}\n${String(headers['accept-encoding'])}\n${url}`
}

const LONGEST_NUMBER = 10
/** Queries whose reading is remembered, per route: the same few are asked all the time. */
const KNOWN_QUERIES = 4_096
const LONGEST_KNOWN = 500

function finder<Ctx extends HasViewer>({ prefix, routes, ctx }: DirectReads<Ctx>): (url: string) => Found | null {
  const reads: Read[] = []
  for (const route of routes) {
    const [, start, parameter = null] = /^([^:]*)(?::(\w+))?$/.exec(route.path) ?? []
    if (start === undefined || !route.ready || route.method !== 'GET') continue
    const { verb, ready } = route
    const input = inputOf(route)
    const known = new Recent<unknown>(KNOWN_QUERIES)
    const inputFor = (number: string, query: string): unknown => {
      const params: Record<string, string> = {}
      if (parameter !== null) params[parameter] = number
      return input({ params, query: parseQuery(query) }, verb.fails)
    }
    const inputOfQuery = (query: string): unknown => {
      if (query.length > LONGEST_KNOWN) return inputFor('', query)
      let value = known.get(query)
      if (value === undefined) known.set(query, (value = Object.freeze(inputFor('', query))))
      return value
    }
    reads.push({
      route: prefix + route.path,
      start: prefix + start,
      parameter,
      check: (viewer) => mayCall(viewer, verb.needs),
      answer: (viewer, number, query) => {
        const result: unknown = call(verb, ctx(viewer), parameter === null ? inputOfQuery(query) : inputFor(number, query))
        return ready(result as never)
      },
      counts: null,
    })
  }
  // Paths are compared, not looked up: to look a new text up V8 first puts it into its table of strings.
  return (url) => {
    for (const read of reads) {
      if (!url.startsWith(read.start)) continue
      const from = read.start.length
      const to = read.parameter === null ? from : endOfDigits(url, from)
      if (to < url.length && url.charCodeAt(to) !== QUESTION_MARK) continue
      if (read.parameter !== null && (to === from || to - from > LONGEST_NUMBER)) continue
      return { read, number: url.slice(from, to), query: url.slice(to + 1) }
    }
    return null
  }
}

const QUESTION_MARK = 63

function endOfDigits(text: string, from: number): number {
  let to = from
  while (to < text.length && text.charCodeAt(to) >= 48 && text.charCodeAt(to) <= 57) to += 1
  return to
}
