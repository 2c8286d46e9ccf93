// The Idempotency-Key header of a write, as both listeners read it.
import type { FastifyRequest } from 'fastify'
import { invalid } from '#core/errors.ts'
import type { Viewer } from '#core/verb.ts'
import { actorOf } from '#db/change.ts'
import { hashRequest, type Idempotency } from '#db/idempotency.ts'

const VISIBLE = /^[\x21-\x7e]{1,255}$/

export interface Caller {
  viewer: Viewer
  /** the secret that the gate admitted the caller by; null outside the gate */
  credential: string | null
}

/**
 * What makes a write repeatable, null without the header and for reads.
 * @param body compared with that of later requests as a JSON value
 * @throws VALIDATION_ERROR for an invalid key, and without a credential to encrypt the result with
 */
export function idempotencyOf(request: FastifyRequest, { viewer, credential }: Caller, body: unknown = request.body): Idempotency | null {
  const key = request.headers['idempotency-key']
  if (key === undefined || request.method === 'GET' || request.method === 'HEAD') return null
  if (typeof key !== 'string' || !VISIBLE.test(key)) {
    throw invalid([{ field: 'Idempotency-Key', message: 'must be 1 to 255 visible ASCII characters' }])
  }
  if (!credential) {
    throw invalid([{ field: 'Idempotency-Key', message: 'is allowed only for requests with an API key, an operator token or a console session' }])
  }
  return { scope: actorOf(viewer), key, part: '', requestHash: hashRequest(request.method, request.url, body), credential }
}
