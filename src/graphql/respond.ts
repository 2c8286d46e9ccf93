// GraphQL responder: turns request text into a response, using cached queries where possible.
import { Cache } from '#core/cache.ts'
import { ServiceError } from '#core/errors.ts'
import type { Market } from '#core/markets.ts'
import { reason } from '#core/problems.ts'
import type { Speedup } from '#core/speedups.ts'
import { type Operation, planViewer, type Viewer } from '#core/verb.ts'
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import type { Failures } from '#http/failures.ts'
import { bytesInLanguage, inLanguage, languageHeaders, languageOf } from '#http/language.ts'
import { type ApiRequest, type Endpoint, isCurrent, type MaybePromise, responseWeight, sharedResponder } from '#http/respond.ts'
import { jsonResponse, type Response } from '#http/response.ts'
import { type Answer, answerTo, type GraphqlRequest, type GraphqlRules } from './answer.ts'
import type { GraphqlCtx, QueryCtx } from './execution/context.ts'
import { RequestError } from './execution/errors.ts'
import { answerType, contentTypeOf, GRAPHQL_RESPONSE, JSON_TYPE, type MediaType } from './execution/media-types.ts'
import { readRequest } from './request.ts'

/** Maximum bytes of cached responses. */
const CACHED_RESPONSES = 24 * 1024 * 1024
/** Tells caches not to store the response. */
const UNSTORED = ['cache-control', 'no-store']
const NO_ROWS = new Int32Array(0)

/** The input of the gate; whether a document may be executed is checked when it is read. */
const OPERATION: Operation = { name: 'graphql', needs: 'starter', writes: false }

/** How the response of a query from memory is built again, and whether it would be the same. */
type Repeated = Required<Pick<Response, 'again' | 'isCurrent'>>

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
  const responseOf = (
    type: MediaType,
    { body, shared, failed: hasErrors, followed }: Answer,
    repeated: Repeated,
    accepted: string | undefined,
  ): Response => {
    const headers = ['content-type', contentTypeOf(type)]
    const { again, isCurrent } = repeated
    if (shared && !hasErrors) return { status: 200, headers, body, again, ...(followed && { isCurrent }) }
    const language = languageOf(accepted)
    // Results of mutations, including secrets, are for their caller only; price changes depend on the current time.
    const own = [...headers, ...languageHeaders(language), ...(shared ? [] : UNSTORED)]
    return { status: 200, headers: own, body: bytesInLanguage(body, language), again: null }
  }
  const refusedAs = (type: MediaType, error: unknown, request: ApiRequest): Response => {
    if (!(error instanceof RequestError)) return failed(error, request)
    const language = languageOf(request.headers['accept-language'])
    const body = inLanguage({ errors: error.errors, ...(error.extensions && { extensions: error.extensions }) }, language)
    // The specification requires status 200 for JSON responses to well-formed requests, whatever the result.
    return jsonResponse(type === GRAPHQL_RESPONSE ? 400 : 200, body, ['content-type', contentTypeOf(type), ...languageHeaders(language)])
  }
  /** Executes a query from memory again; keeps nothing of the request but its parameters. */
  const repeat = (parameters: GraphqlRequest, shared: QueryCtx) => () =>
    (answerTo(parameters, { shared, own: notShared, mutations: false }, rules) as Answer).body
  const make = (viewer: Viewer, request: ApiRequest): MaybePromise<Response> => {
    const type = answerType(request.headers.accept)
    if (!type) return failed(notAcceptable(), request)
    try {
      const parameters = readRequest(request)
      const reads: (() => boolean)[] = []
      const shared = { viewer: planViewer(viewer), catalogue, currencies }
      const others = catalogue.follow(NO_ROWS)
      // An Idempotency-Key is bound to the content of the request, not to its bytes.
      const own = () => ctx(viewer, { ...request, body: parameters })
      const answered = answerTo(parameters, { shared: { ...shared, reads }, own, mutations: request.method === 'POST' }, rules)
      const repeated = { again: repeat(parameters, shared), isCurrent: areAll(others, reads) }
      const accepted = request.headers['accept-language']
      if (!(answered instanceof Promise)) return responseOf(type, answered, repeated, accepted)
      return answered.then((answer) => responseOf(type, answer, repeated, accepted)).catch((error: unknown) => refusedAs(type, error, request))
    } catch (error) {
      return refusedAs(type, error, request)
    }
  }
  const version = () => catalogue.version
  const cache = without.has('response-cache')
    ? undefined
    : new Cache<string, Response>({ limit: CACHED_RESPONSES, weigh: responseWeight, version, isCurrent })
  const keyOf = ({ method, url, headers, body }: ApiRequest) =>
    `${headers.accept ?? ''}\n${method === 'POST' ? `${headers['content-type']}\n${textKey(body)}` : url}`
  return { operation: OPERATION, respond: sharedResponder({ cache, keyOf, make }), refuse: failed }
}

/** Whether all hold now. Made here, because a function made where a request is in scope would keep that request in memory with its response. */
function areAll(others: () => boolean, reads: readonly (() => boolean)[]): () => boolean {
  return () => others() && reads.every((same) => same())
}

/** Bytes as a text of the same length; different bodies have different texts. */
function textKey(body: unknown): string {
  return Buffer.isBuffer(body) ? body.toString('latin1') : ''
}

function notShared(): never {
  throw new Error('A query that is shared by plan has no context of its caller')
}

function notAcceptable(): ServiceError {
  return new ServiceError('NOT_ACCEPTABLE', reason('accept', { values: [GRAPHQL_RESPONSE, JSON_TYPE] }))
}
