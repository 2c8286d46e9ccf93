// The one envelope of both listeners, and the one place where an error becomes an answer.
import { ERROR_STATUS, type ErrorCode, type Problem, ServiceError, unavailable } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import type { Pagination } from '#core/paging.ts'
import { isUnavailable } from '#db/transaction.ts'

/** What a route answers in the envelope. */
export interface Answer {
  data: unknown
  /** entity tag of the thing, for `ETag` */
  etag?: string
  message?: string
  pagination?: Pagination
  /** further top-level members of the envelope, such as the webhook's `note` */
  extra?: Record<string, unknown>
}

/** The body of a successful answer; fields without a value are left out. */
export function successBody({ data, message, pagination, extra }: Answer): object {
  return {
    success: true,
    ...(data !== undefined && { data }),
    ...(message !== undefined && { message }),
    ...(pagination && { pagination }),
    ...extra,
  }
}

export interface ErrorBody {
  success: false
  error: { code: ErrorCode; message: string; details?: Problem[] }
}

const ERROR_CODES = Object.keys(ERROR_STATUS) as ErrorCode[]

/** The body of every error, for the reference. */
export const ErrorSchema = Type.Object(
  {
    success: Type.Literal(false),
    error: Type.Object({
      code: Type.Enum(ERROR_CODES),
      message: Type.String({ description: 'For people; names what was wrong and what is allowed' }),
      details: Type.Optional(Type.Array(Type.Object({ field: Type.String(), message: Type.String() }, { title: 'Problem' }))),
    }),
  },
  { title: 'Error' },
)

export function errorBody(error: ServiceError): ErrorBody {
  const { code, message, details } = error
  return { success: false, error: { code, message, ...(details && details.length > 0 && { details }) } }
}

/** Any thrown value as a `ServiceError`; what is not the caller's doing keeps its cause for the log only. */
export function asServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  const fastify = FASTIFY_ERRORS[(error as { code?: string }).code ?? '']
  if (fastify) return new ServiceError(fastify.code, fastify.message)
  if (isUnavailable(error)) return unavailable(error)
  const status = (error as { statusCode?: number }).statusCode
  if (status !== undefined && status >= 400 && status < 500) {
    return new ServiceError('BAD_REQUEST', 'The request cannot be read', { cause: error })
  }
  return new ServiceError('INTERNAL_ERROR', 'Something went wrong on our side; it has been logged', { cause: error })
}

const FASTIFY_ERRORS: Record<string, { code: ErrorCode; message: string }> = {
  FST_ERR_CTP_BODY_TOO_LARGE: { code: 'PAYLOAD_TOO_LARGE', message: 'The body is larger than this endpoint takes' },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: 'UNSUPPORTED_MEDIA_TYPE',
    message: 'The body must be JSON, sent with Content-Type: application/json',
  },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: { code: 'BAD_REQUEST', message: 'Content-Length does not fit the body' },
  FST_ERR_BAD_URL: { code: 'BAD_REQUEST', message: 'The path is not validly encoded' },
}
