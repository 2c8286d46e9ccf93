// The Idempotency-Key header of a write, as both listeners read it.
import { invalid } from '#core/errors.ts'
import type { Viewer } from '#core/verb.ts'
import { actorOf } from '#db/changes/change.ts'
import { hashRequest, type Idempotency } from '#db/changes/idempotency.ts'
import type { ApiRequest } from './respond.ts'

const VISIBLE = /^[\x21-\x7e]{1,255}$/

/**
 * Identifies a write so that a retry returns the result of the first attempt; null without the header and for reads.
 * The body is compared with that of later requests as a JSON value.
 * @throws VALIDATION_ERROR for an invalid key, and if there is no credential to encrypt the result with
 */
export function idempotencyOf(request: ApiRequest, viewer: Viewer): Idempotency | null {
  const key = request.headers['idempotency-key']
  if (key === undefined || request.method === 'GET' || request.method === 'HEAD') return null
  if (typeof key !== 'string' || !VISIBLE.test(key)) throw invalid('Idempotency-Key', 'header_key', { min: 1, max: 255 })
  const credential = request.credential()
  if (!credential) throw invalid('Idempotency-Key', 'needs_credential')
  return { scope: actorOf(viewer), key, part: '', requestHash: hashRequest(request.method, request.url, request.body), credential }
}
