// The one error class of the service: closed codes, their HTTP status, a text for the caller and another for the log.

/** Every code an answer can carry, with its HTTP status (decisions.md, "Order of checks, and errors"). */
export const ERROR_STATUS = {
  INVALID_JSON: 400,
  BAD_REQUEST: 400,
  UNAUTHENTICATED: 401,
  PLAN_UPGRADE_REQUIRED: 403,
  FORBIDDEN: 403,
  ITEM_NOT_FOUND: 404,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  NOT_ACCEPTABLE: 406,
  CONFLICT: 409,
  IDEMPOTENCY_CONFLICT: 409,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
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

/** One wrong field of a request: its name as the caller wrote it, and what is allowed. */
export interface Problem {
  field: string
  message: string
}

export interface ServiceErrorExtra {
  details?: Problem[]
  /** response headers the error carries, such as `Retry-After` */
  headers?: Record<string, string>
  /** for the log only; never sent */
  cause?: unknown
}

/** An error with a closed code. `message` and `details` are for the caller, `cause` is for the log only. */
export class ServiceError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly details: Problem[] | undefined
  readonly headers: Record<string, string> | undefined

  constructor(code: ErrorCode, message: string, extra: ServiceErrorExtra = {}) {
    super(message, { cause: extra.cause })
    this.name = 'ServiceError'
    this.code = code
    this.status = ERROR_STATUS[code]
    this.details = extra.details
    this.headers = extra.headers
  }
}

/** 401; `reason` is the whole message for the caller and never holds the credential. */
export function unauthenticated(reason: string): ServiceError {
  return new ServiceError('UNAUTHENTICATED', reason, { headers: { 'www-authenticate': 'Bearer' } })
}

/** 422 that names every wrong field; the message is the first problem, so that it helps even when details are dropped. */
export function invalid(details: Problem[]): ServiceError {
  const first = details[0]
  return new ServiceError('VALIDATION_ERROR', first ? `${first.field} ${first.message}` : 'The request is not valid', {
    details,
  })
}

/** 404 of the public item operations, by id or slug. */
export function itemNotFound(id: number | string): ServiceError {
  return new ServiceError('ITEM_NOT_FOUND', `Item not found: there is none with the id ${id}`)
}

/** 404; `what` is the whole message for the caller. */
export function notFound(what: string): ServiceError {
  return new ServiceError('NOT_FOUND', what)
}

/** 409; `what` is the whole message for the caller. */
export function conflict(what: string): ServiceError {
  return new ServiceError('CONFLICT', what)
}

/** 503 with `Retry-After: 2`, for a database that cannot be reached; `cause` goes to the log only. */
export function unavailable(cause?: unknown): ServiceError {
  return new ServiceError('UNAVAILABLE', 'The service cannot reach its database at the moment; try again shortly', {
    headers: { 'retry-after': '2' },
    cause,
  })
}
