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
  }
  interface FastifyContextConfig {
    /** what the route's operation needs of its caller */
    needs?: Need
  }
}

/**
 * Puts the gate before all routes of a scope, its unknown paths (when it has a not-found handler of its own) and its
 * 405s included. With a known key and no limit to count it passes without a promise.
 * @param limits null where requests are not counted
 * @param session who calls by another credential than the Authorization header, null when the request has none
 */
export function addGate(
  scope: FastifyInstance,
  keyring: Keyring,
  limits: RateLimits | null,
  session: (request: FastifyRequest) => Viewer | Promise<Viewer> | null = () => null,
): void {
  scope.decorateRequest('viewer', null)
  scope.addHook('onRequest', (request, reply, done) => {
    const found = session(request) ?? keyring.find(request.headers.authorization)
    const admitted =
      found instanceof Promise
        ? found.then((viewer) => admit(viewer, limits, request, reply))
        : admit(found, limits, request, reply)
    if (admitted) admitted.then(() => done(), done)
    else done()
  })
}

/** The same gate for lanes before Fastify, but for what a plan allows: their verbs ask for that themselves. */
export function directGate(keyring: Keyring, limits: RateLimits | null): DirectGate {
  return {
    find: (authorization) => keyring.find(authorization),
    count: (viewer) => limits?.consume(viewer)?.then((allowance) => Object.entries(rateLimitHeaders(allowance)).flat()) ?? null,
  }
}

/** Who calls, in a route behind the gate. */
export function viewerOf(request: FastifyRequest): Viewer {
  if (!request.viewer) throw new Error(`${request.method} ${request.routeOptions.url} is not behind the gate`)
  return request.viewer
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
