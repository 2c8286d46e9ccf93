// Answers the reads that are asked most before Fastify does, and remembers which rows a query found until something changes.
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { Recent } from '#core/recent.ts'
import { call, type HasViewer, mayCall, type Viewer } from '#core/verb.ts'
import { addLane, answerDirectly, type DirectGate } from '#http/direct.ts'
import { type KeptAnswer, type KeptAnswers, mayBeKept } from '#http/kept-answers.ts'
import { parseQuery } from '#http/query.ts'
import type { RequestCounts } from '#http/request-counts.ts'
import { inputOf, JSON_TYPE, type ReadyAnswer, type Route } from '#http/routes.ts'

export interface DirectReads<Ctx extends HasViewer> {
  prefix: string
  /** those with `ready` whose path is fixed or ends in one number are answered here */
  routes: Route<Ctx>[]
  ctx: (viewer: Viewer) => Ctx
  /** viewers that get the same answers have the same name */
  kindOf: (viewer: Viewer) => string
  /** for compressed answers; its version is that of everything the answers show */
  kept: KeptAnswers
}

/** A kind of read that is answered here. */
export interface Read {
  route: string
  /** the path up to the number at its end */
  start: string
  /** whether a number ends the path */
  numbered: boolean
  /** @param number text of the number in the path */
  answer: (request: IncomingMessage, viewer: Viewer, number: string, query: string) => KeptAnswer | null
}

/** Takes reads from a listener that is ready, before it listens. */
export function answerReadsDirectly(app: FastifyInstance, gate: DirectGate, requests: RequestCounts, reads: readonly Read[]): void {
  const counted = reads.map((read) => ({ read, count: requests.counter('GET', read.route, 200) }))
  addLane(app, (exchange) => {
    const startedMs = performance.now()
    const { request, rest } = exchange
    const url = request.url!
    if (request.method !== 'GET' || request.headers['if-none-match'] !== undefined) return rest()
    // Paths are compared, not looked up: to look a new text up V8 first puts it into its table of strings.
    for (const { read, count } of counted) {
      if (!url.startsWith(read.start)) continue
      const from = read.start.length
      const to = read.numbered ? endOfDigits(url, from) : from
      if (to < url.length && url.charCodeAt(to) !== QUESTION_MARK) continue
      if (read.numbered && (to === from || to - from > LONGEST_NUMBER)) continue
      const answerFor = (viewer: Viewer) => read.answer(request, viewer, url.slice(from, to), url.slice(to + 1))
      return answerDirectly(gate, exchange, answerFor, () => count(performance.now() - startedMs))
    }
    rest()
  })
}

const QUESTION_MARK = 63
const LONGEST_NUMBER = 10

function endOfDigits(text: string, from: number): number {
  let to = from
  while (to < text.length && text.charCodeAt(to) >= 48 && text.charCodeAt(to) <= 57) to += 1
  return to
}

/** Queries that are remembered per route: the same few are asked all the time. */
const KNOWN_QUERIES = 8_192
const LONGEST_KNOWN = 500

/** A query that was asked lately: what it asks for, and what that was at a version. */
interface Known {
  input: unknown
  version: number
  found: Found
}

interface Found {
  headers: string[]
  bytes: () => Buffer
}

/** The routes that can be answered here. */
export function directReads<Ctx extends HasViewer>({ prefix, routes, ctx, kindOf, kept }: DirectReads<Ctx>): Read[] {
  const reads: Read[] = []
  for (const route of routes) {
    const [, start, parameter = null] = /^([^:]*)(?::(\w+))?$/.exec(route.path) ?? []
    if (start === undefined || !route.ready || route.method !== 'GET') continue
    const { verb, ready } = route
    const input = inputOf(route)
    const known = new Recent<string, Known>(KNOWN_QUERIES)
    const inputFor = (number: string, query: string): unknown => {
      const params: Record<string, string> = {}
      if (parameter !== null) params[parameter] = number
      return input({ params, query: query === '' ? {} : parseQuery(query) }, verb.fails)
    }
    const find = (viewer: Viewer, wanted: unknown): Found => {
      const result: unknown = call(verb, ctx(viewer), wanted)
      const { tag, bytes }: ReadyAnswer = ready(result as never)
      return { headers: ['content-type', JSON_TYPE, 'etag', tag], bytes }
    }
    const findKnown = (viewer: Viewer, key: string, query: string, version: number): Found => {
      const before = known.get(key)
      if (before?.version === version) return before.found
      const wanted = before ? before.input : Object.freeze(inputFor('', query))
      const found = find(viewer, wanted)
      known.set(key, { input: wanted, version, found })
      return found
    }
    /** A page of a list as it is; those that are asked for all the time are kept whole. */
    const page = (viewer: Viewer, url: string, query: string): KeptAnswer => {
      const { version } = kept
      const key = `${kindOf(viewer)} ${url}`
      const answer = kept.get(key, version)
      if (answer) return answer
      const { headers, bytes } = findKnown(viewer, key, query, version)
      const body = bytes()
      kept.offer(key, version, false, () => ({ headers, body: Buffer.from(body) }))
      return { headers, body }
    }
    reads.push({
      route: prefix + route.path,
      start: prefix + start,
      numbered: parameter !== null,
      answer: (request, viewer, number, query) => {
        mayCall(viewer, verb.needs)
        const encodings = request.headers['accept-encoding']
        const url = request.url!
        if (encodings !== undefined) {
          const key = `${kindOf(viewer)}\n${String(encodings)}\n${url}`
          const answer = kept.get(key, kept.version)
          if (!answer) mayBeKept(request, kept, key)
          return answer
        }
        if (parameter === null && query.length <= LONGEST_KNOWN) return page(viewer, url, query)
        const { headers, bytes } = find(viewer, inputFor(number, query))
        return { headers, body: bytes() }
      },
    })
  }
  return reads
}
