// Gate of every protected route: authentication (401), plan and key restrictions (403), rate limit (429).
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { mayCall, type Operation, type Viewer } from '#core/verb.ts'
import { setHeaders } from '#http/fastify-adapter.ts'
import type { MaybePromise } from '#http/respond.ts'
import type { Headers } from '#http/response.ts'
import { holdsTestKey } from '../credentials/key-format.ts'
import type { Keyring } from './keyring.ts'
import { rateLimitHeaders, type RateLimits } from '../limits/rate-limits.ts'
import type { KeyUsage } from './usage.ts'

/** A caller that is authenticated by another credential than the Authorization header. */
export interface SessionCaller {
  secret: string
  viewer: Viewer | Promise<Viewer>
}

/** Where requests with the test keys of sandboxes are answered. */
export interface TestKeys {
  /** Answers the whole request in the sandbox of its key. @throws UNAUTHENTICATED, RATE_LIMITED, ACCOUNT_SUSPENDED, SANDBOX_BUSY */
  pass: (request: FastifyRequest, reply: FastifyReply) => Promise<void>
}

/**
 * Puts the gate before all routes of a scope, its 405s and, if it has its own not-found handler, its unknown paths.
 * With a cached key and no limit to count, it needs no promise.
 * @param limits null if requests are not counted
 * @param session returns the caller of a session; null if the request has none
 * @param testKeys null if test keys are not accepted
 */
export function addGate(
  scope: FastifyInstance,
  keyring: Keyring,
  limits: RateLimits | null,
  session: (request: FastifyRequest) => SessionCaller | null = () => null,
  testKeys: TestKeys | null = null,
): void {
  scope.decorateRequest('viewer', null)
  scope.decorateRequest('credential', null)
  scope.addHook('onRequest', (request, reply, done) => {
    const { authorization } = request.headers
    if (testKeys !== null && holdsTestKey(authorization)) return void testKeys.pass(request, reply).catch(done)
    const signedIn = session(request)
    request.credential = signedIn?.secret ?? authorization ?? null
    const pass = (headers: Headers) => {
      setHeaders(reply, headers)
      done()
    }
    const admit = (viewer: Viewer): MaybePromise<void> => {
      request.viewer = viewer
      const allowed = allow(viewer, request.routeOptions.config.operation, limits, keyring.usage)
      return allowed instanceof Promise ? allowed.then(pass) : pass(allowed)
    }
    const found = signedIn?.viewer ?? keyring.find(authorization, request)
    const admitted = found instanceof Promise ? found.then(admit) : admit(found)
    if (admitted instanceof Promise) admitted.catch(done)
  })
}

/**
 * Checks the plan and the key of an authenticated caller, and counts the request.
 * @param operation undefined for unknown paths and methods
 * @param usage null if usage of keys is not counted
 * @returns rate-limit headers
 * @throws PLAN_UPGRADE_REQUIRED, READ_ONLY_KEY, RATE_LIMITED (or rejects with it)
 */
export function allow(viewer: Viewer, operation: Operation | undefined, limits: RateLimits | null, usage: KeyUsage | null): MaybePromise<Headers> {
  if (operation) mayCall(viewer, operation)
  const counted = limits?.consume(viewer)
  if (!counted) {
    note(viewer, operation, usage)
    return NO_HEADERS
  }
  return counted.then((allowance) => {
    note(viewer, operation, usage)
    return Object.entries(rateLimitHeaders(allowance)).flat()
  })
}

/** Counts the use of a key. */
function note(viewer: Viewer, operation: Operation | undefined, usage: KeyUsage | null): void {
  if (operation && usage && viewer.kind === 'account') usage.count(viewer.keyId, operation.name)
}

const NO_HEADERS: Headers = []
