// GraphQL errors: standard errors whose extensions contain the service's code and status.
import type { GraphQLError, GraphQLFormattedError } from 'graphql'
import { factsOf, ServiceError } from '#core/errors.ts'
import { renameFields, type FieldNaming, type Reason } from '#core/problems.ts'
import { asServiceError } from '#http/envelope.ts'

/** A request that is rejected before it is executed. */
export class RequestError extends Error {
  readonly errors: readonly GraphQLFormattedError[]
  readonly extensions: Record<string, unknown> | undefined

  constructor(errors: readonly GraphQLFormattedError[], extensions?: Record<string, unknown>) {
    super(errors[0]?.message)
    this.errors = errors
    this.extensions = extensions
  }
}

export function requestError(why: Reason, extensions?: Record<string, unknown>): RequestError {
  return new RequestError([serviceError(new ServiceError('BAD_REQUEST', why))], extensions)
}

/** A `ServiceError` as a GraphQL error without a location in the document, with fields as GraphQL names them. */
export function serviceError(error: ServiceError): GraphQLFormattedError {
  const { message, ...facts } = factsOf(renameErrorFields(error, { nameOf: camelCase }))
  return { message, extensions: { code: error.code, status: error.status, ...facts } }
}

/** The error with its fields named in another style. */
export function renameErrorFields({ code, why, headers, cause }: ServiceError, naming: FieldNaming): ServiceError {
  const other = 'rule' in why ? renameFields(why, naming) : why.map((problem) => renameFields(problem, naming))
  return new ServiceError(code, other, { headers, cause })
}

export function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_all, letter: string) => letter.toUpperCase())
}

/** An error in the document itself, or in its variables. */
export function documentError(error: GraphQLError): GraphQLFormattedError {
  return { ...error.toJSON(), extensions: { code: 'BAD_REQUEST', status: 400 } }
}

/**
 * An error of execution: client errors are returned unchanged; all others are hidden and passed to `logged`.
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
