// Errors as GraphQL answers carry them: standard errors whose extensions name the service's code and status.
import type { GraphQLError, GraphQLFormattedError } from 'graphql'
import { ServiceError } from '#core/errors.ts'
import { asServiceError } from '#http/envelope.ts'

/** A request that is refused before it is executed. */
export class RequestRefused extends Error {
  readonly errors: readonly GraphQLFormattedError[]
  readonly extensions: Record<string, unknown> | undefined

  constructor(errors: readonly GraphQLFormattedError[], extensions?: Record<string, unknown>) {
    super(errors[0]?.message)
    this.errors = errors
    this.extensions = extensions
  }
}

export function refused(message: string, extensions?: Record<string, unknown>): RequestRefused {
  return new RequestRefused([serviceError(new ServiceError('BAD_REQUEST', message))], extensions)
}

/** A `ServiceError` as a GraphQL error without a place in the document. */
export function serviceError({ message, code, status, details }: ServiceError): GraphQLFormattedError {
  return { message, extensions: { code, status, ...(details && { details }) } }
}

/** An error in the document itself, or in its variables. */
export function documentError(error: GraphQLError): GraphQLFormattedError {
  return { ...error.toJSON(), extensions: { code: 'BAD_REQUEST', status: 400 } }
}

/**
 * An error of execution: what the caller did wrong as it is; anything else hidden, and given to `logged`.
 */
export function executionError(error: GraphQLError, logged: (cause: unknown) => void): GraphQLFormattedError {
  const cause = asServiceError(error.originalError ?? error)
  if (cause.status >= 500) logged(cause.cause ?? cause)
  const { message, extensions } = serviceError(cause)
  return {
    message,
    ...(error.locations && { locations: error.locations }),
    ...(error.path && { path: error.path }),
    ...(extensions && { extensions }),
  }
}
