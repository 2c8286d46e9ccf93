// Upload scope: streams a body of any content type to disk.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { MINUTE_MS } from '#core/duration.ts'
import { ServiceError } from '#core/errors.ts'
import { reason } from '#core/problems.ts'
import type { ImportQueue } from '#imports/queue.ts'

/** How long a whole upload may take. */
export const UPLOAD_TIMEOUT_MS = 60 * MINUTE_MS

/** Makes every body of the scope an `Upload`. */
export function acceptUploads(scope: FastifyInstance, imports: ImportQueue): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', async (request: FastifyRequest, payload: FastifyRequest['raw']) => {
    const encoding = request.headers['content-encoding'] ?? 'identity'
    // A refusal must not destroy the request, and with it the connection that the answer needs.
    if (encoding === 'gzip' || encoding === 'identity') return imports.store(payload.iterator({ destroyOnReturn: false }))
    throw new ServiceError('UNSUPPORTED_MEDIA_TYPE', reason('body_encoding', { values: ['gzip', 'identity'] }))
  })
  // A request without any body meets no parser: it is an empty file.
  scope.addHook('preValidation', async (request) => {
    request.body ??= await imports.store(request.raw)
  })
}
