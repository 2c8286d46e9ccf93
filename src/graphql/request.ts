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
  if (countKeys(body) !== countColons(text)) throw bad('The body has the same key twice')
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

/** Keys of an object and of all objects in it. */
function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const values = Object.values(value)
  return values.reduce<number>((sum, entry) => sum + countKeys(entry), Array.isArray(value) ? 0 : values.length)
}

const QUOTE = 34
const BACKSLASH = 92
const COLON = 58

/** Colons of valid JSON outside of its texts: one for each key as it was written. */
function countColons(text: string): number {
  let count = 0
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i)
    if (unit === COLON) count += 1
    else if (unit === QUOTE) i = endOfText(text, i)
  }
  return count
}

/** Position of the quote that ends a text. */
function endOfText(text: string, start: number): number {
  let end = start
  for (;;) {
    end = text.indexOf('"', end + 1)
    let slashes = end
    while (text.charCodeAt(slashes - 1) === BACKSLASH) slashes -= 1
    if ((end - slashes) % 2 === 0) return end
  }
}

function bad(message: string): ServiceError {
  return new ServiceError('BAD_REQUEST', message)
}
