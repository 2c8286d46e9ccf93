// Turns a declared route into an endpoint: reads the verb's input from a request and writes its result or error as a response.
import { invalid, ServiceError } from '#core/errors.ts'
import { paramReader, type TSchema, Type } from '#core/input.ts'
import { reason } from '#core/problems.ts'
import { call, type HasViewer, withFamilyCode, type Viewer } from '#core/verb.ts'
import { isDryRun, NOTHING_CHANGED } from '#db/changes/write-verb.ts'
import { type Answer, successBody } from './envelope.ts'
import type { Failures } from './failures.ts'
import { fileResponse } from './file-response.ts'
import { inLanguage, languageHeaders, languageOf } from './language.ts'
import { isList, listAsCsv, type OpenSnapshot } from './list-csv.ts'
import type { RawQuery } from './query.ts'
import { type ApiRequest, type Endpoint, type MaybePromise, ownResponder, type Responder, type ResponseCache, sharedResponder } from './respond.ts'
import { jsonResponse, JSON_HEADERS, prefersCsv, type Response } from './response.ts'
import type { Route } from './route.ts'
import { strictResponder, unknownIn, warned, type Warning, warningsOf, withWarnings } from './unknown-parameters.ts'
import { hasLongList, slicedJson } from './sliced-json.ts'

export interface EndpointRules<Ctx extends HasViewer> {
  /** the verb's context */
  ctx: (viewer: Viewer, request: ApiRequest) => Ctx
  failed: Failures
  /** for reads that are shared by plan: the version of everything that they show */
  cache?: ResponseCache
  /** called with each response whose records or searches are counted, before it is sent */
  counted?: (viewer: Viewer, response: Response, request: ApiRequest) => void
  /** if set, clients can get every paged list as CSV: a snapshot to read the list from */
  snapshot?: OpenSnapshot<Ctx>
}

/** The response of a route, for any adapter. */
export function endpointOf<Ctx extends HasViewer>(route: Route<Ctx>, { ctx, failed, cache, counted, snapshot }: EndpointRules<Ctx>): Endpoint {
  const { verb } = route
  const input = inputOf(route)
  const unknown = unknownIn(route)
  const inPath = namesInPath(route)
  const openForCsv = snapshot && isList(route) ? snapshot : null
  const responseOf = (result: unknown, request: ApiRequest, query: RawQuery, dryRun: boolean): MaybePromise<Response> => {
    const names = unknown(query)
    if (names.length === 0) return plainResponse(result, request, dryRun)
    return warned(plainResponse(result, request, dryRun, warningsOf(route, names)))
  }
  const plainResponse = (result: unknown, request: ApiRequest, dryRun: boolean, warnings?: readonly Warning[]): MaybePromise<Response> => {
    if (route.csv && prefersCsv(request.headers.accept)) return byAccept({ status: 200, ...route.csv(result as never) })
    const answered = route.answer(result as never)
    const answer = dryRun && 'data' in answered ? answerOfDryRun(answered, result) : answered
    if ('file' in answer) return fileResponse(answer, request)
    if ('bytes' in answer) {
      const { tag, bytes, isCurrent, shown, term } = warnings ? withWarnings(answer, warnings) : answer
      return { status: 200, headers: JSON_HEADERS, etag: tag, body: bytes, again: bytes, isCurrent, shown, term }
    }
    if ('body' in answer) return { status: 200, ...answer }
    const status = route.status ?? 200
    const finish = (response: Response): Response => {
      const json = answer.etag ? { ...response, etag: answer.etag } : response
      return route.csv || openForCsv ? byAccept(json) : json
    }
    if (status === 204) return { status, headers: [], body: null }
    const body = successBody(warnings ? { ...answer, extra: { ...answer.extra, warnings } } : answer)
    const language = languageOf(request.headers['accept-language'])
    const headers = [...JSON_HEADERS, ...languageHeaders(language)]
    const translate = (part: unknown) => inLanguage(part, language)
    if (hasLongList(body)) return slicedJson(body, translate).then((bytes) => finish({ status, headers, body: bytes }))
    return finish(jsonResponse(status, inLanguage(body, language), headers))
  }
  const make = (viewer: Viewer, request: ApiRequest): MaybePromise<Response> => {
    try {
      const query = request.query()
      if (openForCsv && prefersCsv(request.headers.accept)) {
        const asked = listAsCsv(route, ctx(viewer, request), input(request, query) as object, inPath, openForCsv)
        return asked.then(byAccept).catch((error: unknown) => failed(withFamilyCode(error, verb), request))
      }
      const asked = input(request, query)
      const dryRun = verb.writes && isDryRun(asked)
      const result: unknown = call(verb, ctx(viewer, request), asked, inPath)
      if (result instanceof Promise)
        return result.then((made) => responseOf(made, request, query, dryRun)).catch((error: unknown) => failed(error, request))
      return responseOf(result, request, query, dryRun)
    } catch (error) {
      return failed(withFamilyCode(error, verb), request)
    }
  }
  const strictly = (respond: Responder): Responder => (route.method === 'GET' ? strictResponder(route, { respond, unknown, failed }) : respond)
  if (verb.sharedBy !== 'plan') return { operation: verb, respond: strictly(ownResponder(verb.secret ? unstored(make) : make)), refuse: failed }
  // `call` shows the verb only the plan of its caller.
  const shared = sharedResponder({ cache, keyOf: ({ url }) => url, make, cheap: route.cheap ?? false })
  return { operation: verb, respond: strictly(counted ? counting(shared, counted) : shared), refuse: failed }
}

/** A 304 shows nothing new. */
function counting(respond: Responder, counted: (viewer: Viewer, response: Response, request: ApiRequest) => void): Responder {
  const count = (viewer: Viewer, response: Response, request: ApiRequest): Response => {
    if (response.status === 200 && (response.shown ?? response.term) !== undefined) counted(viewer, response, request)
    return response
  }
  return (viewer, request) => {
    const response = respond(viewer, request)
    return response instanceof Promise ? response.then((later) => count(viewer, later, request)) : count(viewer, response, request)
  }
}

/** Tells caches that the response depends on the `Accept` header. */
function byAccept(response: Response): Response {
  return { ...response, headers: [...response.headers, 'vary', 'accept'] }
}

/** Tells caches not to store the response. */
function unstored(make: Responder): Responder {
  const mark = (response: Response): Response => ({ ...response, headers: [...response.headers, 'cache-control', 'no-store'] })
  return (viewer, request) => {
    const made = make(viewer, request)
    return made instanceof Promise ? made.then(mark) : mark(made)
  }
}

/** The entity tag of a rolled-back version would fit the next real one; a forecast has the tag of the unchanged object. */
function answerOfDryRun({ etag, ...answer }: Answer, result: unknown): Answer {
  const isForecast = typeof result === 'object' && result !== null && 'forecast' in result
  return { ...answer, message: NOTHING_CHANGED, ...(isForecast && etag !== undefined && { etag }) }
}

/** Input fields of a write that are read from the query: its own, and `dry_run`. */
export function queryFieldsOf<Ctx extends HasViewer>({ verb, queryFields = [] }: Route<Ctx>): readonly string[] {
  const { properties = {} } = verb.input as { properties?: object }
  return verb.writes && 'dry_run' in properties ? [...queryFields, 'dry_run'] : queryFields
}

export function namesInPath({ path }: { path: string }): string[] {
  return [...path.matchAll(/:(\w+)/g)].map((match) => match[1]!)
}

/** Reads a request into the verb's input: path and query as text, the body unchanged. */
function inputOf<Ctx extends HasViewer>(route: Route<Ctx>): (request: ApiRequest, query: RawQuery) => unknown {
  const properties = (route.verb.input as { properties?: Record<string, TSchema> }).properties ?? {}
  const names = namesInPath(route)
  const readsBody = route.method !== 'GET' && route.method !== 'DELETE'
  const inText = (name: string) => (route.bodyField ? name !== route.bodyField : !readsBody || names.includes(name))
  const fromText = Object.fromEntries(Object.entries(properties).filter(([name]) => inText(name)))
  const readText = paramReader(Type.Object(fromText))
  const queryFields = readsBody ? queryFieldsOf(route) : []
  const readQueryFields = paramReader(Type.Object(Object.fromEntries(queryFields.map((name) => [name, Type.Optional(properties[name]!)]))))
  return (request, query) => {
    const queried = !readsBody || route.bodyField !== undefined
    const text = readText({ ...(queried && query), ...request.params })
    if (route.bodyField) return { ...text, [route.bodyField]: request.body }
    if (!readsBody) return text
    const { body = {} } = request
    if (typeof body !== 'object' || body === null || Array.isArray(body))
      throw new ServiceError('INVALID_JSON', reason('json_object', { part: 'body' }))
    const clash = names.find((name) => name in body)
    if (clash) throw invalid(clash, 'not_in_body', { part: 'path' })
    if (queryFields.length === 0) return { ...body, ...text }
    const asked = readQueryFields(query)
    const twice = Object.keys(asked).find((name) => name in body)
    if (twice) throw invalid(twice, 'not_in_body', { part: 'query' })
    return { ...body, ...text, ...asked }
  }
}
