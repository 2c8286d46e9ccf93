// The service's only error class: a closed list of codes, their HTTP status, and the reason for an error.
import { type ReasonParams, type Problem, problem, type Reason, reason, textOf } from './problems.ts'
import type { Rule } from './problem-texts/rules.ts'

/** Error codes of responses, with their HTTP status. */
export const ERROR_STATUS = {
  INVALID_JSON: 400,
  BAD_REQUEST: 400,
  UNAUTHENTICATED: 401,
  KEY_MODE_MISMATCH: 401,
  PLAN_UPGRADE_REQUIRED: 403,
  FORBIDDEN: 403,
  ACCOUNT_SUSPENDED: 403,
  READ_ONLY_KEY: 403,
  ORIGIN_NOT_ALLOWED: 403,
  ADDRESS_NOT_ALLOWED: 403,
  ITEM_NOT_FOUND: 404,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  NOT_ACCEPTABLE: 406,
  CONFLICT: 409,
  NOT_ENOUGH_OWNED: 409,
  IDEMPOTENCY_CONFLICT: 409,
  SANDBOX_BUSY: 409,
  CURSOR_EXPIRED: 410,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RANGE_NOT_SATISFIABLE: 416,
  VALIDATION_ERROR: 422,
  PLUS_LISTING_ERROR: 422,
  PLUS_COLLECTION_ERROR: 422,
  RATE_LIMITED: 429,
  INTERNAL_ERROR: 500,
  UPSTREAM_ERROR: 502,
  UNAVAILABLE: 503,
  UPSTREAM_TIMEOUT: 504,
} as const

export type ErrorCode = keyof typeof ERROR_STATUS

export interface ServiceErrorExtra {
  /** response headers the error carries, such as `Retry-After` */
  headers?: Record<string, string>
  /** for the log only; never sent */
  cause?: unknown
}

/** Rejects a request for one reason, or for each invalid field. Its message is in English, with the field names of the verbs. */
export class ServiceError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly why: Reason | readonly Problem[]
  readonly headers: Record<string, string> | undefined

  constructor(code: ErrorCode, why: Reason | readonly Problem[], extra: ServiceErrorExtra = {}) {
    super(messageOf(why), { cause: extra.cause })
    this.name = 'ServiceError'
    this.code = code
    this.status = ERROR_STATUS[code]
    this.why = why
    this.headers = extra.headers
  }

  get details(): readonly Problem[] {
    return isReason(this.why) ? [] : this.why
  }
}

/** The part of an error response besides the code. */
export interface ErrorFacts {
  message: string
  rule?: Rule
  params?: object
  details?: (Problem & { message: string })[]
}

/** The part of an error response besides the code, in English: one reason, or a reason for each invalid field. */
export function factsOf({ message, why }: ServiceError): ErrorFacts {
  if (isReason(why)) return { message, rule: why.rule, params: why.params }
  return { message, details: why.map(({ field, rule, params }) => ({ field, message: textOf({ rule, params }), rule, params })) }
}

/** The same error under another code. */
export function recoded(error: ServiceError, code: ErrorCode): ServiceError {
  return new ServiceError(code, error.why, { headers: error.headers, cause: error })
}

/** The message is the first problem, so that it helps even when a client drops the details. */
function messageOf(why: Reason | readonly Problem[]): string {
  if (!isReason(why)) return textOf(why[0]!)
  const text = textOf(why)
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function isReason(why: Reason | readonly Problem[]): why is Reason {
  return !Array.isArray(why)
}

/** 401; the reason never contains the credential. */
export function unauthenticated(why: Reason): ServiceError {
  return new ServiceError('UNAUTHENTICATED', why, { headers: { 'www-authenticate': 'Bearer' } })
}

/** 422 for one invalid field. */
export function invalid<R extends Rule>(field: string, rule: R, ...params: ReasonParams<R>): ServiceError {
  return new ServiceError('VALIDATION_ERROR', [problem(field, rule, ...params)])
}

/** 422 with a problem for every invalid field. */
export function invalidFields(problems: readonly Problem[]): ServiceError {
  return new ServiceError('VALIDATION_ERROR', problems)
}

/** 404 of the public item operations, by id or slug. */
export function itemNotFound(id: number | string): ServiceError {
  return new ServiceError('ITEM_NOT_FOUND', reason('not_found', { thing: 'item', id }))
}

/** 404 of one reason. */
export function notFound<R extends Rule>(rule: R, ...params: ReasonParams<R>): ServiceError {
  return new ServiceError('NOT_FOUND', reason(rule, ...params))
}

/** 409 of one reason. */
export function conflict<R extends Rule>(rule: R, ...params: ReasonParams<R>): ServiceError {
  return new ServiceError('CONFLICT', reason(rule, ...params))
}

/** 503 with `Retry-After: 2`, for a database that cannot be reached; `cause` is only logged. */
export function unavailable(cause?: unknown): ServiceError {
  return new ServiceError('UNAVAILABLE', reason('database'), { headers: { 'retry-after': '2' }, cause })
}
