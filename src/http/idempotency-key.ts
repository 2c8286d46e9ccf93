// The Idempotency-Key header of a POST, as both listeners read it.
import type { FastifyRequest } from 'fastify'
import { invalid } from '#core/errors.ts'
import type { Viewer } from '#core/verb.ts'
import { actorOf } from '#db/change.ts'
import { hashRequest, type Idempotency } from '#db/idempotency.ts'

const VISIBLE = /^[\x21-\x7e]{1,255}$/

/**
 * What makes the request repeatable, null without the header or for another method than POST. Bodies are compared as
 * JSON values.
 * @throws VALIDATION_ERROR for a header that is no key
 */
export function idempotencyOf(request: FastifyRequest, viewer: Viewer): Idempotency | null {
  const key = request.headers['idempotency-key']
  if (key === undefined || request.method !== 'POST') return null
  if (typeof key !== 'string' || !VISIBLE.test(key)) {
    throw invalid([{ field: 'Idempotency-Key', message: 'must be 1 to 255 visible ASCII characters' }])
  }
  return {
    scope: actorOf(viewer),
    key,
    requestHash: hashRequest(request.method, request.url, request.body),
    // Without the scheme, whose letters may be of either case.
    credential: (request.headers.authorization ?? '').replace(/^\S+ +/, ''),
  }
}
