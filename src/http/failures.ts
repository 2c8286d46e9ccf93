// Converts failures to responses in the error format of each interface.
import type { Log } from '#core/context.ts'
import type { ErrorCode, ServiceError } from '#core/errors.ts'
import { asServiceError, errorBody } from './envelope.ts'
import { JSON_TYPE, type Response } from './response.ts'

/** The log fields of a failed request. */
export interface FailedRequest {
  id: string
  method: string
  url: string
}

/** The response to a failure; internal errors are logged with their cause. */
export type Failures = (error: unknown, request: FailedRequest) => Response

/** Errors that were already logged once for all requests affected by the failure of another service. */
const LOGGED_ALREADY = new Set<ErrorCode>(['UPSTREAM_ERROR', 'UPSTREAM_TIMEOUT'])

/** @param bodyOf the format of the body; the envelope by default */
export function failuresOf(log: Log, bodyOf: (error: ServiceError) => object = errorBody): Failures {
  return (thrown, { id, method, url }) => {
    const error = asServiceError(thrown)
    if (error.status >= 500 && !LOGGED_ALREADY.has(error.code)) {
      log.error({ err: error.cause ?? error, requestId: id, method, path: url.split('?', 1)[0] }, 'Request failed')
    }
    const headers = ['content-type', JSON_TYPE, ...Object.entries(error.headers ?? {}).flat()]
    return { status: error.status, headers, body: Buffer.from(JSON.stringify(bodyOf(error))) }
  }
}
