// The headers of a write that decide whether it runs: Idempotency-Key and If-Match.
import { invalid } from '#core/errors.ts'
import type { HasPrecondition, Precondition } from '#core/precondition.ts'
import type { Viewer } from '#core/verb.ts'
import { actorOf } from '#db/changes/change.ts'
import { hashRequest, type Idempotency } from '#db/changes/idempotency.ts'
import type { ApiRequest } from './respond.ts'
import { tagsIn } from './response.ts'

interface WriteHeaders extends HasPrecondition {
  /** null without the header */
  idempotency: Idempotency | null
}

const READ: WriteHeaders = { idempotency: null, precondition: null }
const VISIBLE = /^[\x21-\x7e]{1,255}$/

/**
 * Both headers; a read ignores them.
 * @throws VALIDATION_ERROR for an invalid key, and if there is no credential to encrypt the result with
 */
export function writeHeadersOf(request: ApiRequest, viewer: Viewer): WriteHeaders {
  if (request.method === 'GET' || request.method === 'HEAD') return READ
  return { idempotency: idempotencyOf(request, viewer), precondition: preconditionOf(request) }
}

/**
 * Identifies a write so that a retry returns the result of the first attempt. The body is compared with that of later requests as a JSON value.
 */
function idempotencyOf(request: ApiRequest, viewer: Viewer): Idempotency | null {
  const key = request.headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key !== 'string' || !VISIBLE.test(key)) throw invalid('Idempotency-Key', 'header_key', { min: 1, max: 255 })
  const credential = request.credential()
  if (!credential) throw invalid('Idempotency-Key', 'needs_credential')
  return { scope: actorOf(viewer), key, part: '', requestHash: hashRequest(request.method, request.url, request.body), credential }
}

function preconditionOf({ headers }: ApiRequest): Precondition {
  const header = headers['if-match']
  if (header === undefined) return null
  const expected = tagsIn(header)
  return (tag) => expected.includes('*') || expected.includes(tag)
}
