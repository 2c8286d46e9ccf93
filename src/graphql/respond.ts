// GraphQL responder: turns request text into a response, using cached queries where possible.
import { Cache } from '#core/cache.ts'
import { ServiceError } from '#core/errors.ts'
import type { Market } from '#core/markets.ts'
import { reason } from '#core/problems.ts'
import type { Speedup } from '#core/speedups.ts'
import type { Operation, PlanViewer, Viewer } from '#core/verb.ts'
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import type { Failures } from '#http/failures.ts'
import { textOfBody } from '#http/body/json.ts'
import { type ApiRequest, type Endpoint, type MaybePromise, responseWeight, sharedResponder } from '#http/respond.ts'
import { jsonResponse, type Response } from '#http/response.ts'
import { type Answer, answerTo, type GraphqlRequest, type GraphqlRules } from './answer.ts'
import type { GraphqlCtx } from './execution/context.ts'
import { RequestError } from './execution/errors.ts'
import { answerType, contentTypeOf, GRAPHQL_RESPONSE, JSON_TYPE, type MediaType } from './execution/media-types.ts'
import { readBody, readQuery } from './request.ts'

/** Maximum bytes of cached responses. */
const CACHED_RESPONSES = 24 * 1024 * 1024

/** The input of the gate; whether a document may be executed is checked when it is read. */
const OPERATION: Operation = { name: 'graphql', needs: 'starter', writes: false }

export interface GraphqlEndpointParts {
  catalogue: Catalogue
  currencies: Readonly<Record<Market, string>>
  rules: GraphqlRules
  without: ReadonlySet<Speedup>
  /** context of mutations, and of fields from the database */
  ctx: (viewer: Viewer, request: ApiRequest) => GraphqlCtx
  failed: Failures
}

/** GET allows queries only; a POST is passed with the bytes of its body. */
export function graphqlEndpoint({ catalogue, currencies, rules, without, ctx, failed }: GraphqlEndpointParts): Endpoint {
  const responseOf = (type: MediaType, { body, failed: hasErrors }: Answer, again: () => Buffer): Response => ({
    status: 200,
    headers: ['content-type', contentTypeOf(type)],
    body,
    again: hasErrors ? null : again,
  })
  const refusedAs = (type: MediaType, error: unknown, request: ApiRequest): Response => {
    if (!(error instanceof RequestError)) return failed(error, request)
    const body = { errors: error.errors, ...(error.extensions && { extensions: error.extensions }) }
    // The specification requires status 200 for JSON responses to well-formed requests, whatever the result.
    return jsonResponse(type === GRAPHQL_RESPONSE ? 400 : 200, body, ['content-type', contentTypeOf(type)])
  }
  const makeQuery = (viewer: PlanViewer, request: ApiRequest): Response | null => {
    const type = typeFor(request)
    if (!type) return failed(notAcceptable(), request)
    try {
      const query = read(request)
      const execution = { ctx: { viewer, catalogue, currencies }, own: false, mutations: false } as const
      const execute = () => answerTo(query, execution, rules) as Answer | null
      const answer = execute()
      return answer && responseOf(type, answer, () => execute()!.body)
    } catch (error) {
      return refusedAs(type, error, request)
    }
  }
  const respondOwn = (viewer: Viewer, request: ApiRequest): MaybePromise<Response> => {
    // The media type was accepted when the query was read.
    const type = typeFor(request)!
    try {
      const query = read(request)
      // An Idempotency-Key is bound to the content of the request, not to its bytes.
      const mutations = request.method === 'POST'
      const answered = answerTo(query, { ctx: ctx(viewer, { ...request, body: query }), own: true, mutations }, rules)
      if (!answered) throw new ServiceError('METHOD_NOT_ALLOWED', reason('method', { values: ['POST'] }), { headers: { allow: 'POST' } })
      // Results of mutations, including secrets, are for their caller only; price changes depend on the current time.
      const done = ({ body }: Answer): Response => ({
        status: 200,
        headers: ['content-type', contentTypeOf(type), 'cache-control', 'no-store'],
        body,
      })
      if (!(answered instanceof Promise)) return done(answered)
      return answered.then(done).catch((error: unknown) => refusedAs(type, error, request))
    } catch (error) {
      return refusedAs(type, error, request)
    }
  }
  const version = () => catalogue.version
  const cache = without.has('response-cache') ? undefined : new Cache<string, Response>({ limit: CACHED_RESPONSES, weigh: responseWeight, version })
  const keyOf = ({ method, url, headers, body }: ApiRequest) =>
    `${headers.accept ?? ''}\n${method === 'POST' ? `${headers['content-type']}\n${textKey(body)}` : url}`
  return { operation: OPERATION, respond: sharedResponder({ cache, keyOf, make: makeQuery, otherwise: respondOwn }), refuse: failed }
}

/** Bytes as a text of the same length; different bodies have different texts. */
function textKey(body: unknown): string {
  return Buffer.isBuffer(body) ? body.toString('latin1') : ''
}

function typeFor({ headers }: ApiRequest): MediaType | null {
  return answerType(headers.accept)
}

function notAcceptable(): ServiceError {
  return new ServiceError('NOT_ACCEPTABLE', reason('accept', { values: [GRAPHQL_RESPONSE, JSON_TYPE] }))
}

/** @throws BAD_REQUEST, INVALID_JSON */
function read({ method, headers, query, body }: ApiRequest): GraphqlRequest {
  if (method !== 'POST') return readQuery(query())
  return readBody(body === undefined ? '' : textOfBody(headers['content-type']!, body as Buffer))
}
