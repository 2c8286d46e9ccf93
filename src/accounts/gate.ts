// The gate before every protected route: who calls (401), whether the plan allows the operation (403), how often (429).
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { mayCall, type Need, type Viewer } from '#core/verb.ts'
import { setHeaders } from '#http/fastify-adapter.ts'
import type { MaybePromise } from '#http/respond.ts'
import type { Headers } from '#http/response.ts'
import type { Keyring } from './keyring.ts'
import { rateLimitHeaders, type RateLimits } from './rate-limits.ts'

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
    request.credential = signedIn?.secret ?? authorization ?? null
    const pass = (headers: Headers) => {
      setHeaders(reply, headers)
      done()
    }
    const admit = (viewer: Viewer): MaybePromise<void> => {
      request.viewer = viewer
      const allowed = allow(viewer, request.routeOptions.config.needs, limits)
      return allowed instanceof Promise ? allowed.then(pass) : pass(allowed)
    }
    const found = signedIn?.viewer ?? keyring.find(authorization, request)
    const admitted = found instanceof Promise ? found.then(admit) : admit(found)
    if (admitted instanceof Promise) admitted.catch(done)
  })
}

/**
 * Checks the plan of an authenticated caller, and counts the request.
 * @returns headers that tell the limits
 * @throws PLAN_UPGRADE_REQUIRED, RATE_LIMITED (or rejects with it)
 */
export function allow(viewer: Viewer, needs: Need | undefined, limits: RateLimits | null): MaybePromise<Headers> {
  if (needs) mayCall(viewer, needs)
  const counted = limits?.consume(viewer)
  return counted ? counted.then((allowance) => Object.entries(rateLimitHeaders(allowance)).flat()) : NO_HEADERS
}

const NO_HEADERS: Headers = []
