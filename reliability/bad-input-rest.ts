// Mostly invalid REST requests, generated from the OpenAPI documents that the running node serves.
import type { Shape } from '#core/input.ts'
import {
  badFieldQuery,
  bodyOf,
  type Chance,
  changedCursor,
  extremeJson,
  goodJson,
  type ExistingValues,
  NASTY_TEXTS,
  nastyBody,
  nastyEncoded,
} from './bad-input-values.ts'
import { resolved } from '../test/support/openapi.ts'
import type { Target } from './bad-input-target.ts'

/** A request as sent, including ids and credentials. */
export interface BadRequest {
  /** name of the group in which operations are counted */
  group: string
  /** operations covered: `GET /api/v1/items/{id}`, a GraphQL field, a tool */
  about: readonly string[]
  url: string
  /** path with query, sent without further validation or encoding */
  path: string
  method: string
  headers: [name: string, value: string][]
  body: string | Buffer | null
  /** names of fields and parameters that a refusal may name */
  fields: readonly string[]
}

export interface Parameter {
  name: string
  in: 'path' | 'query'
  required?: boolean
  schema: Shape
}

interface OpenApi {
  paths: Record<string, Record<string, { tags: string[]; parameters?: Parameter[]; requestBody?: { content: Record<string, { schema: Shape }> } }>>
}

/** An operation of a document. */
export interface Operation {
  group: string
  url: string
  method: string
  path: string
  parameters: Parameter[]
  body: Shape | null
  fields: string[]
}

export async function readOperations(url: string, documentPath: string): Promise<Operation[]> {
  const { paths } = resolved((await (await fetch(url + documentPath)).json()) as OpenApi)
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { tags, parameters = [], requestBody }]) => {
      const body = sendable(path, Object.values(requestBody?.content ?? {})[0]?.schema ?? null)
      const group = `${path.startsWith('/operator') ? 'operator ' : ''}${tags[0]}`
      // Refusals name a list without its brackets.
      const fields = [...parameters.map(({ name }) => name.replace('[]', '')), ...Object.keys(body?.properties ?? {})]
      return { group, url, method: method.toUpperCase(), path, parameters, body, fields }
    }),
  )
}

/** The end of all access would end that of the attack, so `all` is never sent as it must be. */
function sendable(path: string, body: Shape | null): Shape | null {
  return body !== null && path.endsWith('/breach') ? { ...body, properties: { ...body.properties, all: { const: false } } } : body
}

const OTHER_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'HEAD', 'PROPFIND', 'QUERY']
const PATHS = [
  '/api/v1/../../etc/passwd',
  '/api/v1/%2e%2e/%2e%2e/etc/passwd',
  '/api/v1//items',
  '//api/v1/items',
  '/api/v1/items/',
  '/API/V1/ITEMS',
  '/api/v1/items/..;/',
  '/docs/guides/files/..%2f..%2fpackage.json',
  '/graphql/assets/..%2f..%2f..%2fpackage.json',
  '/console/assets/../../package.json',
  '/api/v1/items/%',
  '/api/v1/%ff',
  `/api/v1/${'x/'.repeat(2_000)}`,
  '/.env',
  '/api/v1/items?%',
  '/operator/v1/__proto__',
  '/api/v1/constructor',
]
const HEADERS: readonly [name: string, values: readonly string[]][] = [
  ['if-match', ['', '*', 'W/', '"', '"x', 'x'.repeat(5_000), '"a", "b", *', '\xff', `${'"a",'.repeat(3_000)}"b"`]],
  ['if-none-match', ['', '*', 'W/"', '\xff"', 'x'.repeat(5_000)]],
  ['idempotency-key', ['', ' ', 'x'.repeat(256), 'x'.repeat(8_000), '\xff\xfe', 'a b', '"', 'same']],
  [
    'accept',
    [
      '',
      '*',
      'x',
      'text/html',
      'application/json;q=nonsense',
      'application/xml',
      '*/*;q=0',
      'a/b,'.repeat(1_000),
      'application/graphql-response+json',
      '\xff',
    ],
  ],
  ['accept-encoding', ['', '*', '*;q=0', 'br;q=abc', 'gzip;q=2', 'identity;q=0', 'x'.repeat(2_000), 'gzip, br, zstd, deflate', 'br;q=0.0001,']],
  [
    'content-type',
    [
      '',
      'text/plain',
      'application/xml',
      'application/json; charset=utf-16',
      'application/json; charset="',
      'multipart/form-data; boundary=x',
      'application/x-www-form-urlencoded',
      'APPLICATION/JSON',
      ';',
      '\xff',
      'application/json, application/json',
    ],
  ],
  ['content-encoding', ['gzip', 'br', 'identity', 'x', 'gzip, gzip']],
  ['x-request-id', ['', 'x'.repeat(1_000), '<script>', '\xff', 'a b']],
  ['x-forwarded-for', ['', '999.999.999.999', '::::', 'unknown', '1.2.3.4, '.repeat(500)]],
  ['x-forwarded-proto', ['javascript', '\xff']],
  ['host', ['', 'x:99999', '[::1', 'a b', '\xff', 'evil.example']],
  ['range', ['bytes=0-', 'bytes=-1', 'x']],
  ['cookie', ['mintmark_console=', 'mintmark_console=x; mintmark_console=y', '='.repeat(3_000), '\xff', '__proto__=1']],
  ['origin', ['null', 'https://elsewhere.example', '\xff', ':::']],
  ['x-console', ['1']],
  ['expect', ['nonsense']],
  ['te', ['trailers, deflate;q=0.5']],
  ['upgrade', ['websocket', 'h2c']],
  ['authorization', ['', 'Bearer', 'Bearer ', 'Bearer \xff', 'Basic x', `Bearer ${'x'.repeat(9_000)}`, 'Bearer __proto__', 'bearer null']],
]

/** Occasionally adds unusual headers. */
export function oddHeaders(chance: Chance): [name: string, value: string][] {
  const headers: [string, string][] = []
  while (chance.is(0.15)) {
    const [name, values] = chance.pick(HEADERS)
    headers.push([name, chance.pick(values)])
  }
  return headers
}

/** A request for an operation, mostly invalid at one or several places. */
export function badRequest(operation: Operation, target: Target, chance: Chance): BadRequest {
  const { group, url, method, path, parameters, body, fields } = operation
  const ids = existingValues(target, path)
  const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) =>
    chance.is(0.75) ? pathValue(name, ids, operation, chance) : nastyEncoded(chance),
  )
  const query = queryOf(
    parameters.filter((parameter) => parameter.in === 'query'),
    ids,
    chance,
  )
  const sendsBody = body ? chance.is(0.95) : chance.is(0.1)
  const odd = oddHeaders(chance)
  const sentMethod = chance.is(0.04) ? chance.pick(OTHER_METHODS) : method
  const sentPath = chance.is(0.02) ? chance.pick(PATHS) : filled + (query && `?${query}`)
  return {
    group,
    about: [aboutOf(operation)],
    url,
    // Malformed HTTP is answered before its method is known, with a body that HEAD responses must not have.
    path: sentMethod === 'HEAD' ? sentPath.replace(/[^\x21-\x7e]/g, '') : sentPath,
    method: sentMethod,
    headers: [
      ['authorization', `Bearer ${credential(operation, target, chance)}`],
      ...(sendsBody ? [['content-type', 'application/json'] as [string, string]] : []),
      ...odd,
    ],
    body: sendsBody ? textOfBody(body ?? {}, ids, chance) : null,
    fields,
  }
}

/** A valid path of an operation, and a valid body. */
export function goodParts(
  operation: Operation,
  target: Target,
  chance: Chance,
): { path: string; headers: [string, string][]; body: (shape: Shape) => Record<string, unknown> } {
  const { path } = operation
  const ids = existingValues(target, path)
  return {
    path: path.replace(/\{(\w+)\}/g, (_all, name: string) => pathValue(name, ids, operation, chance)),
    headers: [['authorization', `Bearer ${path.startsWith('/operator') ? target.operatorToken : target.keys.enterprise}`]],
    body: (shape) =>
      Object.fromEntries((shape.required ?? []).map((name) => [name, JSON.parse(goodJson(shape.properties![name]!, name, chance, ids)) as unknown])),
  }
}

/** A request that is valid but for one parameter or body field, which has a value that a column may not be able to hold. */
export function extremeRequest(operation: Operation, target: Target, chance: Chance): BadRequest {
  const { group, url, method, parameters, body: shape, fields } = operation
  const ids = existingValues(target, operation.path)
  const { path, headers } = goodParts(operation, target, chance)
  const properties = Object.keys(shape?.properties ?? {})
  const [where, name] = chance.pick<['path' | 'query' | 'body', string]>([
    ...parameters.map((parameter): ['path' | 'query', string] => [parameter.in, parameter.name]),
    ...properties.map((property): ['body', string] => ['body', property]),
    // An operation without input gets a parameter that it does not have.
    ...(parameters.length + properties.length === 0 ? [['query', 'x'] as ['query', string]] : []),
  ])
  const schemaOf = (parameterName: string) => parameters.find((parameter) => parameter.name === parameterName)?.schema ?? {}
  const asText = (json: string) => encodeURIComponent(String(JSON.parse(json)).toWellFormed())
  const extreme = () => asText(extremeJson(schemaOf(name), chance, ids))
  const filled =
    where === 'path'
      ? operation.path.replace(/\{(\w+)\}/g, (_all, of: string) => (of === name ? extreme() : pathValue(of, ids, operation, chance)))
      : path
  const others = parameters.filter((parameter) => parameter.in === 'query' && parameter.required && parameter.name !== name)
  const query = others.map((parameter) => `${parameter.name}=${asText(goodJson(parameter.schema, parameter.name, chance, ids))}`)
  if (where === 'query') query.push(`${name}=${extreme()}`)
  const required = (shape?.required ?? []).filter((field) => field !== name)
  const sent = required.map((field) => `${JSON.stringify(field)}:${goodJson(shape!.properties![field]!, field, chance, ids)}`)
  if (where === 'body') sent.push(`${JSON.stringify(name)}:${extremeJson(shape!.properties![name]!, chance, ids)}`)
  return {
    group,
    about: [aboutOf(operation)],
    url,
    path: filled + (query.length > 0 ? `?${query.join('&')}` : ''),
    method,
    headers: shape === null ? headers : [...headers, ['content-type', 'application/json']],
    body: shape === null ? null : `{${sent.join(',')}}`,
    fields,
  }
}

/** Name of an operation in the coverage report. */
export function aboutOf({ method, path }: Pick<Operation, 'method' | 'path'>): string {
  return `${method} ${path}`
}

function credential({ path }: Operation, { keys, operatorToken }: Target, chance: Chance): string {
  if (path.startsWith('/operator')) return chance.is(0.98) ? operatorToken : keys.enterprise
  return chance.is(0.97) ? chance.pick([keys.plus, keys.enterprise]) : keys.starter
}

/** Valid values of each name under a path, as returned by the service. */
export function existingValues({ ids, cursors, dumpFiles }: Target, path: string): ExistingValues {
  const family = /\/(account|key|item|categorie|listing|collection)s?\//.exec(path)?.[1]?.replace('categorie', 'category')
  const ofFeed = path.includes('/events') ? cursors.events : path.includes('/changes') ? cursors.changes : []
  const byName: Record<string, readonly (number | string)[]> = {
    itemId: ids.record,
    account_id: ids.account,
    seller_id: ids.account,
    item_id: ids.item,
    category_id: ids.category,
    listing_id: ids.listing,
    // In seconds: a longer wait would be reported as a hang.
    wait: [0, 1],
    after: ofFeed,
    until: ofFeed,
    name: path.includes('/dumps/') ? dumpFiles : [],
    id: path.includes('make-highlight') ? ids.listing : (ids[family as keyof typeof ids] ?? []),
  }
  return (field) => byName[field] ?? []
}

function pathValue(name: string, ids: ExistingValues, { parameters }: Operation, chance: Chance): string {
  const existing = ids(name)
  if (existing.length > 0) return String(chance.pick(existing))
  const schema = parameters.find((parameter) => parameter.name === name)?.schema ?? {}
  if (schema.enum && schema.enum.length > 0) return String(chance.pick(schema.enum))
  if (name.endsWith('format')) return chance.pick(['mintmark-ndjson', 'pricecharting-csv', 'tcgdex', 'mintmark-csv', 'collectr', 'nothing'])
  return schema.type === 'string' ? 'text' : String(1 + chance.below(40))
}

function queryOf(parameters: Parameter[], ids: ExistingValues, chance: Chance): string {
  const parts: string[] = []
  for (const { name, schema } of parameters) {
    if (!chance.is(0.4)) continue
    const value = () => {
      if (name === 'query' && chance.is(0.6)) return encodeURIComponent(badFieldQuery(chance))
      if ((name === 'after' || name === 'until') && chance.is(0.5)) return encodeURIComponent(changedCursor(ids(name), chance))
      if (chance.is(0.45)) return nastyEncoded(chance)
      const good: unknown = JSON.parse(
        goodJson(schema.type === 'array' ? (schema.items ?? {}) : schema, name, chance, ids).replace(/^$/, '""') || '""',
      )
      return encodeURIComponent(String(good).toWellFormed())
    }
    parts.push(`${name}=${value()}`)
    if (chance.is(0.08)) parts.push(`${name}${chance.pick(['', '[]', '[0]', '[a]', '[__proto__]', '%5B%5D'])}=${value()}`)
  }
  if (chance.is(0.15)) parts.push(`${encodeURIComponent(chance.pick(NASTY_TEXTS).toWellFormed().slice(0, 300))}=${nastyEncoded(chance)}`)
  if (chance.is(0.02)) parts.push('x=1&'.repeat(3_000))
  return parts.join('&')
}

function textOfBody(shape: Shape, ids: ExistingValues, chance: Chance): string | Buffer {
  if (chance.is(0.12)) return nastyBody(chance)
  const object = shape.anyOf?.find((branch) => branch.properties) ?? shape
  if (object.properties) return bodyOf(object, chance, ids)
  if (shape.type === 'array') return `[${Array.from({ length: 1 + chance.below(4) }, () => bodyOf(PRICE, chance, ids)).join(',')}]`
  return chance.is(0.5) ? nastyBody(chance) : bodyOf(PRICE, chance, ids)
}

// Rows of POST /prices are validated one by one, so the document has no schema for them.
const PRICE: Shape = {
  properties: {
    item_id: { type: 'integer' },
    item_ref: { type: 'string' },
    market: { enum: ['service', 'source_a', 'source_b', 'source_c'] },
    label: { enum: ['Near Mint', 'PSA 10', 'Ungraded'] },
    price: { type: 'number' },
    updated_at: { type: 'string', format: 'date-time' },
  },
}
