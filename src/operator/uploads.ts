// Upload scope: streams a body of any content type to disk.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { MINUTE_MS } from '#core/duration.ts'
import { ServiceError } from '#core/errors.ts'
import { reason } from '#core/problems.ts'
import type { ImportQueue } from '#imports/queue.ts'

/** Time limit of a whole upload. */
export const UPLOAD_TIMEOUT_MS = 60 * MINUTE_MS

/** Turns every request body of the scope into an `Upload`. */
export function acceptUploads(scope: FastifyInstance, imports: ImportQueue): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', async (request: FastifyRequest, payload: FastifyRequest['raw']) => {
    const encoding = request.headers['content-encoding'] ?? 'identity'
    // A rejection must not destroy the request, because the response uses its connection.
    if (encoding === 'gzip' || encoding === 'identity') return imports.store(payload.iterator({ destroyOnReturn: false }))
    throw new ServiceError('UNSUPPORTED_MEDIA_TYPE', reason('body_encoding', { values: ['gzip', 'identity'] }))
  })
  // Without a body, no content-type parser runs: treat it as an empty file.
  scope.addHook('preValidation', async (request) => {
    request.body ??= await imports.store(request.raw)
  })
}
