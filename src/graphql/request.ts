// Reads GraphQL requests: the JSON body of a POST, or the query string of a GET.
import { ServiceError } from '#core/errors.ts'
import { type Problem, problem, type Reason, reason } from '#core/problems.ts'
import { parseJson, textOfBody } from '#http/body/json.ts'
import type { RawQuery } from '#http/query.ts'
import type { ApiRequest } from '#http/respond.ts'
import type { GraphqlRequest } from './answer.ts'

/** The parameters of a request with the bytes of its body. @throws BAD_REQUEST, INVALID_JSON for anything but one request */
export function readRequest({ method, headers, query, body }: ApiRequest): GraphqlRequest {
  if (method !== 'POST') return readQuery(query())
  return readBody(body === undefined ? '' : textOfBody(headers['content-type']!, body as Buffer))
}

function readBody(text: string): GraphqlRequest {
  const body = parseJson(text, 'body')
  if (Array.isArray(body)) throw bad(reason('batch'))
  if (!isMap(body)) throw bad(reason('json_object', { part: 'body' }))
  return checked(body)
}

function readQuery(query: RawQuery): GraphqlRequest {
  const params: Record<string, unknown> = {}
  for (const name of ['query', 'operationName', 'variables', 'extensions']) {
    const value = query[name]
    if (value === undefined || value === '') continue
    if (Array.isArray(value)) throw bad([problem(name, 'only_once')])
    params[name] = name === 'variables' || name === 'extensions' ? parseJson(value, name) : value
  }
  return checked(params)
}

function checked({ query, operationName, variables, extensions }: Record<string, unknown>): GraphqlRequest {
  if (typeof query !== 'string' || query === '') throw bad([problem('query', 'text')])
  if (operationName !== undefined && operationName !== null && typeof operationName !== 'string') throw bad([problem('operationName', 'text')])
  if (variables !== undefined && variables !== null && !isMap(variables)) throw bad([problem('variables', 'object')])
  if (extensions !== undefined && extensions !== null && !isMap(extensions)) throw bad([problem('extensions', 'object')])
  return { query, variables: variables ?? {}, operationName: operationName || null }
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function bad(why: Reason | readonly Problem[]): ServiceError {
  return new ServiceError('BAD_REQUEST', why)
}
