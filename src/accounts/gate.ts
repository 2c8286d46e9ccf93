// The gate before every protected route: who calls (401), whether the plan allows the operation (403), how often (429).
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { mayCall, type Need, type Viewer } from '#core/verb.ts'
import type { DirectGate } from '#http/direct.ts'
import type { Keyring } from './keyring.ts'
import { rateLimitHeaders, type RateLimits } from './rate-limits.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** set by the gate, before the body is read */
    viewer: Viewer | null
    /** what the gate admitted the caller by: the Authorization header, or the console session's secret */
    credential: string | null
  }
  interface FastifyContextConfig {
    /** what the route's operation needs of its caller */
    needs?: Need
  }
}

/** A caller by another credential than the Authorization header. */
export interface SessionCaller {
  secret: string
  viewer: Viewer | Promise<Viewer>
}

/**
 * Puts the gate before all routes of a scope, its unknown paths (when it has a not-found handler of its own) and its
 * 405s included. With a known key and no limit to count it passes without a promise.
 * @param limits null where requests are not counted
 * @param session who calls by a session, null when the request has none
 */
export function addGate(
  scope: FastifyInstance,
  keyring: Keyring,
  limits: RateLimits | null,
  session: (request: FastifyRequest) => SessionCaller | null = () => null,
): void {
  scope.decorateRequest('viewer', null)
  scope.decorateRequest('credential', null)
  scope.addHook('onRequest', (request, reply, done) => {
    const { authorization } = request.headers
    const signedIn = session(request)
    const found = signedIn?.viewer ?? keyring.find(authorization, request)
    request.credential = signedIn?.secret ?? authorization ?? null
    const admitted =
      found instanceof Promise
        ? found.then((viewer) => admit(viewer, limits, request, reply))
        : admit(found, limits, request, reply)
    if (admitted) admitted.then(() => done(), done)
    else done()
  })
}

/** The same gate for lanes before Fastify, but for what a plan allows: their verbs ask for that themselves. What is not a
 * valid key in memory they leave to the gate. */
export function directGate(keyring: Keyring, limits: RateLimits | null): DirectGate {
  return {
    known: (authorization) => keyring.known(authorization),
    count: (viewer) => limits?.consume(viewer)?.then((allowance) => Object.entries(rateLimitHeaders(allowance)).flat()) ?? null,
  }
}

/** Who calls, in a route behind the gate. */
export function viewerOf(request: FastifyRequest): Viewer {
  if (!request.viewer) throw new Error(`${request.method} ${request.routeOptions.url} is not behind the gate`)
  return request.viewer
}

/** The secret that the gate admitted the caller by, null in a route that is not behind the gate. */
export function credentialOf({ credential }: FastifyRequest): string | null {
  // Without the scheme, whose letters may be of either case.
  return credential?.replace(/^\S+ +/, '') ?? null
}

function admit(
  viewer: Viewer,
  limits: RateLimits | null,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> | null {
  request.viewer = viewer
  const { needs } = request.routeOptions.config
  if (needs) mayCall(viewer, needs)
  const counted = limits?.consume(viewer)
  return counted ? counted.then((allowance) => void reply.headers(rateLimitHeaders(allowance))) : null
}
