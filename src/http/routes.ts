// Registers declared routes with Fastify: handlers, 405 responses and reference entries, derived from their verbs.
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify'
import { type ErrorCode, ERROR_STATUS, ServiceError } from '#core/errors.ts'
import { type Shape, type TSchema, Type } from '#core/input.ts'
import { PaginationSchema } from '#core/paging.ts'
import { PLANS } from '#core/plans.ts'
import { isOperatorNeed } from '#core/roles.ts'
import { conditionUnsupported } from '#core/precondition.ts'
import { reason } from '#core/problems.ts'
import { type HasViewer, withFamilyCode, type Verb } from '#core/verb.ts'
import { endpointOf, type EndpointRules, namesInPath, queryFieldsOf } from './endpoint.ts'
import { ErrorSchema } from './envelope.ts'
import { apiRequest, handleRequest, viewerOf } from './fastify-adapter.ts'
import { isList } from './list-csv.ts'
import type { Endpoint } from './respond.ts'
import type { Method, Route } from './route.ts'
import { unpackBody } from './body/unpack.ts'
import { WarningSchema } from './unknown-parameters.ts'

const WARNINGS = 'Query parameters that the operation does not have, if any were sent; they were ignored'
const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

export interface RouteRules<Ctx extends HasViewer> extends EndpointRules<Ctx> {
  /** name of the security scheme; null: no credential is needed */
  security: string | null
}

/** Registers routes, and a 405 response for the other methods of every path. @returns the endpoint of each route */
export function registerRoutes<Ctx extends HasViewer>(app: FastifyInstance, routes: Route<Ctx>[], rules: RouteRules<Ctx>): Endpoint[] {
  const paths = new Map<string, { url: string; methods: Method[] }>()
  const endpoints = routes.map((route) => endpointOf(route, rules))
  for (const [i, route] of routes.entries()) {
    const { scope, bodies } = route
    const endpoint = endpoints[i]!
    if (scope || bodies) {
      void app.register(async (inner) => {
        scope?.(inner)
        for (const [type, read] of Object.entries(bodies ?? {})) {
          acceptBody(inner, type, (request, body) => read(body, rules.ctx(viewerOf(request), apiRequest(request))), route.verb)
        }
        registerRoute(inner, route, endpoint, rules)
      })
    } else registerRoute(app, route, endpoint, rules)
    // Paths that differ only in parameter names are the same.
    const path = route.path.replace(/:\w+/g, ':')
    const known = paths.get(path)
    if (known) known.methods.push(route.method)
    else paths.set(path, { url: route.path, methods: [route.method] })
  }
  for (const { url, methods } of paths.values()) registerOtherMethods(app, url, methods)
  return endpoints
}

/** Reads bodies of a type, compressed or not, into fields; errors are those of the verb's input. */
function acceptBody(
  scope: FastifyInstance,
  type: string,
  read: (request: FastifyRequest, body: Buffer) => Promise<object>,
  verb: { familyError: ErrorCode | null },
): void {
  scope.addContentTypeParser(type, { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    const { headers, routeOptions } = request
    try {
      return await read(request, await unpackBody(headers['content-encoding'], body, routeOptions.bodyLimit))
    } catch (error) {
      throw withFamilyCode(error, verb)
    }
  })
}

/** Methods that clients may send; no path supports the last two. */
const TRIED = [...METHODS, 'OPTIONS', 'TRACE']

/** 405 with `Allow` for the methods that a path does not have. */
export function registerOtherMethods(app: FastifyInstance, url: string, methods: readonly string[]): void {
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ')
  app.route({
    method: TRIED.filter((method) => !methods.includes(method)),
    url,
    schema: { hide: true } as object,
    handler: () => {
      throw new ServiceError('METHOD_NOT_ALLOWED', reason('method', { values: allow.split(', ') }), {
        headers: { allow },
      })
    },
  })
}

function registerRoute<Ctx extends HasViewer>(
  app: FastifyInstance,
  route: Route<Ctx>,
  { operation, respond }: Endpoint,
  rules: RouteRules<Ctx>,
): void {
  app.route({
    method: route.method,
    url: route.path,
    ...(route.bodyLimit !== undefined && { bodyLimit: route.bodyLimit }),
    config: { operation },
    ...(route.method !== 'GET' && !route.errors?.includes('PRECONDITION_FAILED') && { onRequest: refuseCondition(route.verb) }),
    schema: referenceOf(route, rules) as object,
    handler: (request, reply) => handleRequest(respond, request, reply),
  })
}

function writes({ method, reads = false }: { method: Method; reads?: boolean }): boolean {
  return method !== 'GET' && !reads
}

/** Checked before the body is read, so that no upload is received only to be rejected. */
function refuseCondition(verb: { familyError: ErrorCode | null }): onRequestHookHandler {
  return (request, _reply, done) => {
    if (request.headers['if-match'] === undefined) done()
    else done(withFamilyCode(conditionUnsupported(), verb) as Error)
  }
}

/** The reference entry of a route, derived from the schemas that also validate. */
function referenceOf<Ctx extends HasViewer>(route: Route<Ctx>, { security, snapshot }: RouteRules<Ctx>): object {
  const shape = route.verb.input as { properties?: Record<string, TSchema>; required?: string[] }
  const properties = shape.properties ?? {}
  const names = namesInPath(route)
  const readsBody = route.method !== 'GET' && route.method !== 'DELETE'
  const queryFields = readsBody ? queryFieldsOf(route) : []
  const fields = (chosen: readonly string[], nameOf = (name: string) => name) =>
    Type.Object(
      Object.fromEntries(chosen.map((name) => [nameOf(name), shape.required?.includes(name) ? properties[name]! : Type.Optional(properties[name]!)])),
    )
  const verbName = route.verb.name
  const isCsv = (snapshot && isList(route)) === true
  const description = [route.description, isCsv && '`Accept: text/csv` returns all rows as CSV, ignoring the page.'].filter(Boolean).join(' ')
  const body = (schema: object | undefined) => ({ title: `${verbName[0]!.toUpperCase()}${verbName.slice(1)}Input`, ...schema })
  // Lists are sent as `game[]=pokemon&game[]=onepiece`.
  const inQuery = (chosen: readonly string[]) => fields(chosen, (name) => ((properties[name] as Shape).type === 'array' ? `${name}[]` : name))
  const errors = new Set<ErrorCode>([
    ...(security === null ? [] : (['UNAUTHENTICATED'] as const)),
    'RATE_LIMITED',
    ...(writes(route) ? (['IDEMPOTENCY_CONFLICT'] as const) : []),
    // Operators have no plan, and their tokens are never read-only.
    ...verbErrors(security === 'operatorToken' ? { ...route.verb, needs: 'operator' } : route.verb),
    ...(route.errors ?? []),
  ])
  // Fields of a JSON body that are passed in the query if the body is a file.
  const elsewhere = route.bodies ? [...names, route.bodyField] : [...names, ...queryFields, route.bodyField]
  const others = Object.keys(properties).filter((name) => !elsewhere.includes(name))
  return {
    operationId: verbName,
    summary: route.summary,
    ...(description && { description }),
    ...(route.deprecated && { deprecated: true }),
    tags: [route.tag],
    // Bodies other than JSON are files, of any type.
    ...(route.scope && !route.bodyTypes && { consumes: ['application/octet-stream'] }),
    ...(route.bodies && { consumes: ['application/json', ...Object.keys(route.bodies)] }),
    security: security === null ? [] : [{ [security]: [] }],
    ...(names.length > 0 && { params: Type.Object(Object.fromEntries(names.map((name) => [name, properties[name]!]))) }),
    headers: headersOf(errors, route.method === 'GET'),
    ...(route.bodyField && { body: bodyOf(route, properties[route.bodyField]!, body) }),
    ...(others.length > 0 && (readsBody && !route.bodyField ? { body: body(fields(others)) } : { querystring: inQuery(others) })),
    ...(queryFields.length > 0 && { querystring: inQuery(queryFields) }),
    response: {
      ...successResponses(route, isCsv),
      ...errorSchemas(errors),
    },
    'x-error-codes': [...errors],
  }
}

/** The schema of a body that is one field of the input. @param named gives it the name of the operation */
function bodyOf<Ctx extends HasViewer>({ scope, bodyTypes }: Route<Ctx>, schema: TSchema, named: (schema: object) => object): object {
  if (!scope) return named(schema)
  if (!bodyTypes) return schema
  return { content: Object.fromEntries(bodyTypes.map((type) => [type, { schema }])) }
}

/** The request headers that change what an operation does, derived from its errors. */
function headersOf(errors: ReadonlySet<ErrorCode>, reads: boolean): TSchema {
  const key = Type.String({
    maxLength: 255,
    description: 'For 24 hours, repeating the request with the same key returns the first response and changes nothing',
  })
  const tag = Type.String({ description: 'Entity tag from your last read; 412 if the object has changed since' })
  const strict = Type.String({
    description: '`handling=strict` refuses unknown query parameters (422); by default they are ignored and named in `warnings`',
    examples: ['handling=strict'],
  })
  return Type.Object({
    ...(reads && { Prefer: Type.Optional(strict) }),
    ...(errors.has('IDEMPOTENCY_CONFLICT') && { 'Idempotency-Key': Type.Optional(key) }),
    ...(errors.has('PRECONDITION_FAILED') && { 'If-Match': Type.Optional(tag) }),
  })
}

/** The error codes that follow from a verb: from its plan, and from its input. */
function verbErrors({
  needs,
  writes,
  input,
  familyError,
}: Pick<Verb<HasViewer, TSchema, unknown>, 'needs' | 'writes' | 'input' | 'familyError'>): ErrorCode[] {
  const takesInput = Object.keys((input as { properties?: object }).properties ?? {}).length > 0
  return [
    ...(isOperatorNeed(needs) || needs === PLANS[0] ? [] : (['PLAN_UPGRADE_REQUIRED'] as const)),
    // Every role may call a verb that only requires an operator.
    ...(isOperatorNeed(needs) && needs !== 'operator' ? (['FORBIDDEN'] as const) : []),
    ...(!isOperatorNeed(needs) && writes ? (['READ_ONLY_KEY'] as const) : []),
    ...(familyError ? [familyError] : takesInput ? (['VALIDATION_ERROR'] as const) : []),
  ]
}

/** The successful responses by status, each with its content types. */
function successResponses<Ctx extends HasViewer>(route: Route<Ctx>, isCsv: boolean): Record<number, object> {
  const { status = 200, files, csv } = route
  const success = { 'x-response-description': 'Success' }
  if (status === 204) return { 204: { type: 'null', ...success } }
  const File = Type.String({ format: 'binary' })
  const filesOf = (types: readonly string[]) => Object.fromEntries(types.map((type) => [type, { schema: File }]))
  if (!files) {
    if (!csv && !isCsv) return { [status]: successSchema(route) }
    return { [status]: { ...success, content: { 'application/json': { schema: successSchema(route) }, ...filesOf(['text/csv']) } } }
  }
  const content = filesOf(files.types)
  if (!files.resumable) return { [status]: { ...success, content } }
  const header = (description: string, name: string) => ({ [name]: Type.String({ description }) })
  const tag = header('Entity tag for `If-None-Match` and `If-Range`', 'ETag')
  return {
    [status]: { ...success, headers: { ...tag, ...header('`bytes`', 'Accept-Ranges') }, content },
    206: {
      'x-response-description': 'The part that `Range` names',
      headers: { ...tag, ...header('The part and the size of the file', 'Content-Range') },
      content,
    },
    304: { type: 'null', 'x-response-description': 'The file is the one with the tag in `If-None-Match`' },
  }
}

function successSchema<Ctx extends HasViewer>(route: Route<Ctx>): object {
  return {
    'x-response-description': 'Success',
    ...Type.Object({
      success: Type.Literal(true),
      ...(route.data && { data: route.data }),
      ...(writes(route) && { message: Type.Optional(Type.String()) }),
      ...(route.paged && { pagination: PaginationSchema }),
      ...(route.method === 'GET' && route.data && { warnings: Type.Optional(Type.Array(WarningSchema, { description: WARNINGS })) }),
      ...route.extra,
    }),
  }
}

function errorSchemas(codes: Iterable<ErrorCode>): Record<number, object> {
  const byStatus = Map.groupBy(codes, (code) => ERROR_STATUS[code])
  return Object.fromEntries([...byStatus].map(([status, all]) => [status, { ...ErrorSchema, 'x-response-description': all.join(' or ') }]))
}
