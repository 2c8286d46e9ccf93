// CORS of the public listener: allowed origins and preflight responses.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { setHeaders } from './fastify-adapter.ts'
import type { Headers } from './response.ts'

/** Response headers for a request from this origin, names and values in turn. */
export type CorsHeaders = (origin: string | undefined) => Headers

const EXPOSED = ['access-control-expose-headers', 'ETag, Preference-Applied, RateLimit, RateLimit-Policy, X-Request-Id, Retry-After']
const PREFLIGHT = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  // The last two belong to the Model Context Protocol.
  'access-control-allow-headers':
    'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Prefer, X-Request-Id, Mcp-Protocol-Version, Mcp-Session-Id',
  // Browsers cap it: Chromium at 2 hours, Firefox at 24.
  'access-control-max-age': '86400',
}

/**
 * API keys are sent in a header, so responses never allow the browser's own credentials.
 * @param origins `*` for pages of any origin, otherwise the allowed origins
 */
export function corsHeaders(origins: '*' | readonly string[]): CorsHeaders {
  if (origins === '*') {
    const any = ['access-control-allow-origin', '*', ...EXPOSED]
    return () => any
  }
  const vary = ['vary', 'Origin']
  const allowed = new Map(origins.map((origin) => [origin, ['access-control-allow-origin', origin, ...EXPOSED, ...vary]]))
  return (origin) => (origin === undefined ? vary : (allowed.get(origin) ?? vary))
}

/** Responds to preflight requests of a listener before any route, gate or limit; call it before other hooks are added. */
export function answerPreflights(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (isPreflight(request)) reply.code(204).headers(PREFLIGHT).send()
    else done()
  })
}

/** Sets the headers that let pages read any response. */
export function allowOrigin(reply: FastifyReply, headers: CorsHeaders): void {
  setHeaders(reply, headers(reply.request.headers.origin))
}

function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined
}
