// Declaration of routes: method, path and verb, with what the reference says of them; everything else follows from the verb.
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { type ErrorCode, ERROR_STATUS, invalid, ServiceError } from '#core/errors.ts'
import { paramReader, type Shape, type TSchema, Type } from '#core/input.ts'
import { PaginationSchema } from '#core/paging.ts'
import { conditionUnsupported } from '#core/precondition.ts'
import { call, type HasViewer, type Verb, voiced } from '#core/verb.ts'
import { matchesTag } from './entity-tag.ts'
import { type Answer, ErrorSchema, successBody } from './envelope.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** JSON that is there as bytes already, and what stands for its state in `ETag`. */
export interface ReadyAnswer {
  tag: string
  bytes: () => Buffer
}

export const JSON_TYPE = 'application/json; charset=utf-8'

/** `ready` is for the reads that are asked most: they are answered before Fastify, too (rest/direct-reads.ts). */
export type Route<Ctx extends HasViewer> = RouteParts<Ctx> & ({ answer: AnswerOf; ready?: never } | { ready: (result: never) => ReadyAnswer; answer?: never })

/** The result as it is answered; bytes are sent as they are, JSON unless the answer sets another type. */
type AnswerOf = (result: never, exchange: { request: FastifyRequest; reply: FastifyReply }) => Answer | Buffer | Readable | null

interface RouteParts<Ctx extends HasViewer> {
  method: Method
  /** with parameters as `:id`; they are integers of the verb's input unless the input says otherwise */
  path: string
  // biome-ignore lint/suspicious/noExplicitAny: a list of routes holds verbs of all inputs and results
  verb: Verb<Ctx, any, any>
  /** one line, and more where a stranger needs it */
  summary: string
  description?: string
  tag: string
  /** success status, 200 unless told */
  status?: number
  /** input field that takes the whole body where it is no object of fields (an array, a file); others come as text */
  bodyField?: string
  /** input fields of a write that are read from the query; they may stand in the body instead */
  queryFields?: readonly string[]
  bodyLimit?: number
  /** prepares a scope of the route's own, such as one that reads other bodies than JSON */
  scope?: (inner: FastifyInstance) => void
  /** schema of `data`, for the reference */
  data?: TSchema
  paged?: boolean
  /** schemas of further members of the envelope, for the reference */
  extra?: Record<string, TSchema>
  /** error codes beside 401, 429 and a write's IDEMPOTENCY_CONFLICT; PRECONDITION_FAILED says that the write honours `If-Match`, which others refuse */
  errors?: ErrorCode[]
}

/** Where an input comes from. */
export interface RequestParts {
  params: unknown
  query: unknown
  body?: unknown
}

export interface RouteRules<Ctx extends HasViewer> {
  /** the context of a request that passed the gate */
  ctx: (request: FastifyRequest) => Ctx
  /** name of the security scheme */
  security: string
}

/** Registers routes, and for every path an answer to the methods it does not have. */
export function registerRoutes<Ctx extends HasViewer>(app: FastifyInstance, routes: Route<Ctx>[], rules: RouteRules<Ctx>): void {
  const paths = new Map<string, { url: string; methods: Method[] }>()
  for (const route of routes) {
    if (route.scope) {
      void app.register(async (inner) => {
        route.scope!(inner)
        registerRoute(inner, route, rules)
      })
    } else registerRoute(app, route, rules)
    // What a parameter is called makes no other path.
    const path = route.path.replace(/:\w+/g, ':')
    const known = paths.get(path)
    if (known) known.methods.push(route.method)
    else paths.set(path, { url: route.path, methods: [route.method] })
  }
  for (const { url, methods } of paths.values()) registerOtherMethods(app, url, methods)
}

/** What clients try, of which no path has the last two. */
const TRIED = [...METHODS, 'OPTIONS', 'TRACE']

/** 405 with `Allow` for the methods that a path does not have. */
export function registerOtherMethods(app: FastifyInstance, url: string, methods: readonly string[]): void {
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ')
  app.route({
    method: TRIED.filter((method) => !methods.includes(method)),
    url,
    schema: { hide: true } as object,
    handler: (request) => {
      throw new ServiceError('METHOD_NOT_ALLOWED', `${request.method} is not possible here; possible: ${allow}`, {
        headers: { allow },
      })
    },
  })
}

function registerRoute<Ctx extends HasViewer>(app: FastifyInstance, route: Route<Ctx>, rules: RouteRules<Ctx>): void {
  const input = inputOf(route)
  const inPath = namesInPath(route)
  app.route({
    method: route.method,
    url: route.path,
    ...(route.bodyLimit !== undefined && { bodyLimit: route.bodyLimit }),
    config: { needs: route.verb.needs },
    ...(route.method !== 'GET' && !route.errors?.includes('PRECONDITION_FAILED') && { onRequest: refuseCondition(route.verb.fails) }),
    schema: referenceOf(route, rules) as object,
    handler: (request, reply) => {
      if (route.verb.secret) reply.header('cache-control', 'no-store')
      const result = call(route.verb, rules.ctx(request), input(request, route.verb.fails), inPath)
      if (result instanceof Promise) return result.then((value) => send(route, request, reply, value))
      return send(route, request, reply, result)
    },
  })
}

/** Before the body is read, so that no upload is taken for nothing. */
function refuseCondition(fails: ErrorCode | null): onRequestHookHandler {
  return (request, _reply, done) => {
    if (request.headers['if-match'] === undefined) done()
    else done(voiced(conditionUnsupported(), fails) as Error)
  }
}

function send<Ctx extends HasViewer>(route: Route<Ctx>, request: FastifyRequest, reply: FastifyReply, result: unknown): FastifyReply {
  if (route.ready) return sendReady(route.ready(result as never), request, reply)
  const answer = route.answer(result as never, { request, reply })
  if (route.status !== undefined && reply.statusCode === 200) reply.code(route.status)
  if (answer === null) return reply.send()
  if (!reply.hasHeader('content-type')) reply.header('content-type', JSON_TYPE)
  const asItIs = Buffer.isBuffer(answer) || answer instanceof Readable
  return reply.send(asItIs ? answer : JSON.stringify(successBody(answer)))
}

/** Without a body where the caller has this state already. */
function sendReady({ tag, bytes }: ReadyAnswer, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.header('etag', tag)
  const known = request.headers['if-none-match']
  if (known !== undefined && matchesTag(known, tag)) return reply.code(304).send()
  return reply.header('content-type', JSON_TYPE).send(bytes())
}

function namesInPath({ path }: { path: string }): string[] {
  return [...path.matchAll(/:(\w+)/g)].map((match) => match[1]!)
}

/** Reads a request into the verb's input: path and query by text, a body as it is. */
export function inputOf<Ctx extends HasViewer>(route: Route<Ctx>): (request: RequestParts, fails: ErrorCode | null) => unknown {
  const properties = (route.verb.input as { properties?: Record<string, TSchema> }).properties ?? {}
  const names = namesInPath(route)
  const readsBody = route.method !== 'GET' && route.method !== 'DELETE'
  const inText = (name: string) => (route.bodyField ? name !== route.bodyField : !readsBody || names.includes(name))
  const fromText = Object.fromEntries(Object.entries(properties).filter(([name]) => inText(name)))
  const readText = paramReader(Type.Object(fromText))
  const { queryFields = [] } = route
  const readQueryFields = paramReader(Type.Object(Object.fromEntries(queryFields.map((name) => [name, Type.Optional(properties[name]!)]))))
  const read = (request: RequestParts): unknown => {
    const queried = !readsBody || route.bodyField !== undefined
    const text = readText({ ...(queried && (request.query as object)), ...(request.params as object) })
    if (route.bodyField) return { ...text, [route.bodyField]: request.body }
    if (!readsBody) return text
    const { body = {} } = request
    if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new ServiceError('INVALID_JSON', 'The body must be a JSON object')
    const clash = names.find((name) => name in body)
    if (clash) throw invalid([{ field: clash, message: 'stands in the path and may not be in the body' }])
    if (queryFields.length === 0) return { ...body, ...text }
    const asked = readQueryFields(request.query as never)
    const twice = Object.keys(asked).find((name) => name in body)
    if (twice) throw invalid([{ field: twice, message: 'stands in the query and may not be in the body too' }])
    return { ...body, ...text, ...asked }
  }
  return (request, fails) => {
    try {
      return read(request)
    } catch (error) {
      if (fails && error instanceof ServiceError && error.code === 'VALIDATION_ERROR') {
        throw new ServiceError(fails, error.message, { ...(error.details && { details: error.details }) })
      }
      throw error
    }
  }
}

/** The reference's entry of a route, made from the schemas that also check. */
function referenceOf<Ctx extends HasViewer>(route: Route<Ctx>, { security }: RouteRules<Ctx>): object {
  const shape = route.verb.input as { properties?: Record<string, TSchema>; required?: string[] }
  const properties = shape.properties ?? {}
  const names = namesInPath(route)
  const { queryFields = [] } = route
  const fields = (chosen: readonly string[], nameOf = (name: string) => name) =>
    Type.Object(Object.fromEntries(chosen.map((name) => [nameOf(name), shape.required?.includes(name) ? properties[name]! : Type.Optional(properties[name]!)])))
  // Lists are sent as `game[]=pokemon&game[]=onepiece`.
  const inQuery = (chosen: readonly string[]) => fields(chosen, (name) => ((properties[name] as Shape).type === 'array' ? `${name}[]` : name))
  const errors = new Set<ErrorCode>([
    'UNAUTHENTICATED',
    'RATE_LIMITED',
    ...(route.method === 'GET' ? [] : (['IDEMPOTENCY_CONFLICT'] as const)),
    ...(route.errors ?? []),
  ])
  const others = Object.keys(properties).filter((name) => ![...names, ...queryFields, route.bodyField].includes(name))
  const readsBody = route.method !== 'GET' && route.method !== 'DELETE'
  return {
    operationId: route.verb.name,
    summary: route.summary,
    ...(route.description && { description: route.description }),
    tags: [route.tag],
    // Other bodies than JSON are files, of whatever type.
    ...(route.scope && { consumes: ['application/octet-stream'] }),
    security: [{ [security]: [] }],
    ...(names.length > 0 && { params: Type.Object(Object.fromEntries(names.map((name) => [name, properties[name]!]))) }),
    ...(route.bodyField && { body: properties[route.bodyField] }),
    ...(others.length > 0 && (readsBody && !route.bodyField ? { body: fields(others) } : { querystring: inQuery(others) })),
    ...(queryFields.length > 0 && { querystring: inQuery(queryFields) }),
    response: {
      [route.status ?? 200]: successSchema(route),
      ...errorSchemas(errors),
    },
    'x-error-codes': [...errors],
  }
}

function successSchema<Ctx extends HasViewer>(route: Route<Ctx>): object {
  return {
    'x-response-description': 'Success',
    ...Type.Object({
      success: Type.Literal(true),
      ...(route.data && { data: route.data }),
      ...(route.method !== 'GET' && { message: Type.Optional(Type.String()) }),
      ...(route.paged && { pagination: PaginationSchema }),
      ...route.extra,
    }),
  }
}

function errorSchemas(codes: Iterable<ErrorCode>): Record<number, object> {
  const byStatus = Map.groupBy(codes, (code) => ERROR_STATUS[code])
  return Object.fromEntries([...byStatus].map(([status, all]) => [status, { ...ErrorSchema, 'x-response-description': all.join(' or ') }]))
}
