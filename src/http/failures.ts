// Converts failures to responses in the error format of each interface.
import type { IncomingHttpHeaders } from 'node:http'
import type { Log } from '#core/context.ts'
import type { ErrorCode, ServiceError } from '#core/errors.ts'
import { asServiceError, errorBody } from './envelope.ts'
import { inLanguage, languageHeaders, languageOf } from './language.ts'
import { JSON_TYPE, jsonResponse, type Response } from './response.ts'

/** What a failure's log entry and language depend on. */
export interface FailedRequest {
  id: string
  method: string
  url: string
  headers: IncomingHttpHeaders
}

/** The response to a failure; internal errors are logged with their cause. */
export type Failures = (error: unknown, request: FailedRequest) => Response

/** Errors that were already logged once for all requests affected by the failure of another service. */
const LOGGED_ALREADY = new Set<ErrorCode>(['UPSTREAM_ERROR', 'UPSTREAM_TIMEOUT'])

/** @param bodyOf the format of the body; the envelope by default */
export function failuresOf(log: Log, bodyOf: (error: ServiceError) => object = errorBody): Failures {
  return (thrown, { id, method, url, headers: { 'accept-language': accepted } }) => {
    const error = asServiceError(thrown)
    if (error.status >= 500 && !LOGGED_ALREADY.has(error.code)) {
      log.error({ err: error.cause ?? error, requestId: id, method, path: url.split('?', 1)[0] }, 'Request failed')
    }
    const language = languageOf(accepted)
    const headers = ['content-type', JSON_TYPE, ...Object.entries(error.headers ?? {}).flat(), ...languageHeaders(language)]
    return jsonResponse(error.status, inLanguage(bodyOf(error), language), headers)
  }
}
