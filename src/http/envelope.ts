// Response envelope of both listeners, and the conversion of errors to responses.
import { ERROR_STATUS, type ErrorCode, type ErrorFacts, factsOf, ServiceError, unavailable } from '#core/errors.ts'
import { ReasonFields, Type } from '#core/input.ts'
import { namedValues } from '#core/named-values.ts'
import type { Pagination } from '#core/paging.ts'
import type { MessageText } from '#core/problem-texts/messages.ts'
import { reason } from '#core/problems.ts'
import { isUnavailable } from '#db/connection/transaction.ts'

/** A successful response in the envelope. */
export interface Answer {
  data: unknown
  /** entity tag of the resource, for `ETag` */
  etag?: string
  message?: MessageText
  pagination?: Pagination
  /** further top-level members of the envelope, such as the webhook's `note` */
  extra?: Record<string, unknown>
}

/** The body of a successful response; fields without a value are omitted. */
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
  error: { code: ErrorCode } & ErrorFacts
}

const ERROR_CODES = namedValues('ErrorCode', Object.keys(ERROR_STATUS) as ErrorCode[])

/** The body of every error, for the reference. */
export const ErrorSchema = Type.Object(
  {
    success: Type.Literal(false),
    error: Type.Object({
      code: Type.Enum(ERROR_CODES),
      message: Type.String({ description: 'Human-readable message: what was wrong and what is allowed' }),
      ...ReasonFields,
      details: Type.Optional(Type.Array(Type.Object({ field: Type.String(), message: Type.String(), ...ReasonFields }, { title: 'Problem' }))),
    }),
  },
  { title: 'Error' },
)

/** The body of an error. */
export function errorBody(error: ServiceError): ErrorBody {
  return { success: false, error: { code: error.code, ...factsOf(error) } }
}

/** Converts any thrown value to a `ServiceError`; for internal errors, the cause goes to the log only. */
export function asServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  const fastify = FASTIFY_ERRORS[(error as { code?: string }).code ?? '']
  if (fastify) return new ServiceError(fastify.code, reason(fastify.rule))
  if (isUnavailable(error)) return unavailable(error)
  const status = (error as { statusCode?: number }).statusCode
  if (status !== undefined && status >= 400 && status < 500) {
    return new ServiceError('BAD_REQUEST', reason('unreadable'), { cause: error })
  }
  return new ServiceError('INTERNAL_ERROR', reason('internal'), { cause: error })
}

const FASTIFY_ERRORS: Record<string, { code: ErrorCode; rule: 'body_size' | 'body_json' | 'body_length' | 'path_encoding' }> = {
  FST_ERR_CTP_BODY_TOO_LARGE: { code: 'PAYLOAD_TOO_LARGE', rule: 'body_size' },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { code: 'UNSUPPORTED_MEDIA_TYPE', rule: 'body_json' },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: { code: 'BAD_REQUEST', rule: 'body_length' },
  FST_ERR_BAD_URL: { code: 'BAD_REQUEST', rule: 'path_encoding' },
}
