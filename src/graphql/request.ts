// Reading of GraphQL requests: the JSON body of a POST, or the query string of a GET.
import { ServiceError } from '#core/errors.ts'
import { parseJson } from '#http/json.ts'
import type { RawQuery } from '#http/query.ts'
import type { GraphqlRequest } from './answer.ts'

/** @throws BAD_REQUEST, INVALID_JSON for anything but one request */
export function readBody(text: string): GraphqlRequest {
  const body = parseJson(text, 'The body')
  if (Array.isArray(body)) throw bad('Batches are not possible: send one request at a time')
  if (!isMap(body)) throw bad('The body must be a JSON object with the field query')
  return checked(body)
}

/** @throws BAD_REQUEST, INVALID_JSON for anything but one request */
export function readQuery(query: RawQuery): GraphqlRequest {
  const params: Record<string, unknown> = {}
  for (const name of ['query', 'operationName', 'variables', 'extensions']) {
    const value = query[name]
    if (value === undefined || value === '') continue
    if (Array.isArray(value)) throw bad(`${name} may be given only once`)
    params[name] = name === 'variables' || name === 'extensions' ? parseJson(value, name) : value
  }
  return checked(params)
}

function checked({ query, operationName, variables, extensions }: Record<string, unknown>): GraphqlRequest {
  if (typeof query !== 'string' || query === '') throw bad('query must be a text')
  if (operationName !== undefined && operationName !== null && typeof operationName !== 'string') throw bad('operationName must be a text')
  if (variables !== undefined && variables !== null && !isMap(variables)) throw bad('variables must be an object')
  if (extensions !== undefined && extensions !== null && !isMap(extensions)) throw bad('extensions must be an object')
  return { query, variables: variables ?? {}, operationName: operationName || null }
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function bad(message: string): ServiceError {
  return new ServiceError('BAD_REQUEST', message)
}
