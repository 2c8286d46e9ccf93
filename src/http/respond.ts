// Builds all responses: turns a request and its caller into a response, whichever adapter has read the request.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { chance } from '#core/process/time-and-chance.ts'
import { type Cache, Repeats } from '#core/cache.ts'
import { type Operation, planViewer, type Viewer } from '#core/verb.ts'
import type { Failures } from './failures.ts'
import type { RawQuery } from './query.ts'
import { compress, encodingFor, type Response, orNotModified } from './response.ts'

/** Registers a listener for the end of the caller's connection; the returned function removes it. */
export type OnDisconnect = (listener: () => void) => () => void

/** Disconnection of a request's caller. */
export function disconnectOf({ socket }: IncomingMessage): OnDisconnect {
  return (listener) => {
    socket.once('close', listener)
    return () => void socket.off('close', listener)
  }
}

/** A request, as an adapter has read it. */
export interface ApiRequest {
  id: string
  method: string
  /** path and query as sent */
  url: string
  headers: IncomingHttpHeaders
  params: Readonly<Record<string, string>>
  /** parses the query string; not needed for cached responses */
  query: () => RawQuery
  /** Registers a listener for the end of the connection; the returned function removes it. */
  onDisconnect: OnDisconnect
  /** address of the client */
  address: () => string
  /** the credential that authenticated the caller; null outside the gate */
  credential: () => string | null
  body?: unknown
}

export type MaybePromise<T> = T | Promise<T>

/** Never throws or rejects: failures are converted to responses. */
export type Responder = (viewer: Viewer, request: ApiRequest) => MaybePromise<Response>

/** The behaviour of a route, for any adapter. */
export interface Endpoint {
  operation: Operation
  respond: Responder
  /** the response to a rejected caller */
  refuse: Failures
}

/** Cached responses by plan, encoding and request; a change of their source drops those that it may concern. */
export type ResponseCache = Cache<string, Response>

/** Measured: functions, rows and versions of an entry without its bytes. */
const ENTRY_BYTES = 1_600
const SHOWN_BYTES = 250

/** Weight of a cached response, in bytes. */
export function responseWeight({ body, shown, term = '' }: Response, key: string): number {
  return ENTRY_BYTES + key.length + 2 * term.length + (Buffer.isBuffer(body) ? body.length : 0) + (shown ? SHOWN_BYTES + 2 * shown.ids.byteLength : 0)
}

/** Whether a cached response of an earlier version of its source would be the same now. */
export function isCurrent(response: Response): boolean {
  return response.isCurrent?.() ?? false
}

/** Makes responses for one caller each, which are not shared. */
export function ownResponder(make: Responder): Responder {
  return (viewer, request) => {
    const encoding = encodingFor(request.headers['accept-encoding'])
    const made = make(viewer, request)
    return made instanceof Promise ? made.then((response) => compress(response, encoding)) : compress(made, encoding)
  }
}

/** A small buffer is part of a larger block, all of which a cached one would keep in memory. */
function withOwnMemory(body: Response['body']): Response['body'] {
  if (!Buffer.isBuffer(body)) return body
  const own = Buffer.allocUnsafeSlow(body.length)
  body.copy(own)
  return own
}

export interface SharedReads {
  /** undefined: nothing is cached */
  cache: ResponseCache | undefined
  /** what the response depends on besides the plan and the encoding */
  keyOf: (request: ApiRequest) => string
  /** only a response with `again` is the same for everyone on the plan, and cached */
  make: Responder
  /** its bytes take no longer to build than to find in the cache: only compressed ones are cached */
  cheap?: boolean
}

/** Share of the bytes of repeated requests that a full cache accepts: one page of bytes evicts many cached functions. */
const ADMITTED_WHEN_FULL = 1 / 128

/**
 * Responds with the same content to everyone on a plan, from the cache if possible. Most queries are sent only once: the function that builds the bytes
 * is cached at the second request, the bytes themselves at the third.
 */
export function sharedResponder({ cache, keyOf, make, cheap = false }: SharedReads): Responder {
  const uncached: Responder = (caller, request) => {
    const made = make(caller, request)
    const checked = (response: Response) => orNotModified(response, request.headers['if-none-match'])
    return made instanceof Promise ? made.then(checked) : checked(made)
  }
  if (!cache) return ownResponder(uncached)
  const repeats = new Repeats()
  const store = (key: string, response: Response): Response => {
    cache.set(key, { ...response, body: withOwnMemory(response.body) })
    return response
  }
  return (caller, request) => {
    const { headers } = request
    const encoding = encodingFor(headers['accept-encoding'])
    if (cheap && encoding === null) return uncached(caller, request)
    const key = `${planViewer(caller).plan} ${encoding ?? ''} ${keyOf(request)}`
    const cached = cache.get(key)
    if (cached) {
      const answer = orNotModified(cached, headers['if-none-match'])
      if (answer !== cached || typeof cached.body !== 'function') return answer
      return cache.full && chance() >= ADMITTED_WHEN_FULL ? cached : store(key, { ...cached, body: cached.body() })
    }
    const { version } = cache
    const made = make(caller, request)
    if (made instanceof Promise) return made.then((response) => compress(orNotModified(response, headers['if-none-match']), encoding))
    const answer = orNotModified(made, headers['if-none-match'])
    if (!made.again || answer !== made) return compress(answer, encoding)
    if (encoding === null) {
      if (repeats.has(key)) cache.set(key, { ...made, body: made.again })
      return made
    }
    // Compressing takes a hundred times as long as building the bytes.
    const whole = compress(made, encoding)
    const keep = (response: Response) => (cache.version === version ? store(key, response) : response)
    return whole instanceof Promise ? whole.then(keep) : keep(whole)
  }
}
