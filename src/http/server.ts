// What both listeners share: limits, request ids, JSON bodies, and errors in the one envelope.
import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Log } from '#core/context.ts'
import { ServiceError } from '#core/errors.ts'
import { type Reason, reason } from '#core/problems.ts'
import { allowOrigin, answerPreflights, type CorsHeaders } from './cors.ts'
import { errorBody } from './envelope.ts'
import { type Failures, failuresOf } from './failures.ts'
import { sendBy } from './fastify-adapter.ts'
import { parseJsonBody } from './json.ts'
import { parseQuery } from './query.ts'
import { unpackBody } from './unpack.ts'
import { discardUnreadBody } from './unread-body.ts'

const BODY_LIMIT = 1024 * 1024
/** How long a client may take nothing of its answers; Node looks twice before it is sure, which makes 34 s. */
const UNREAD_MS = 17_000
/** How long a connection may be without a byte while its request is worked on. */
const WORKING_MS = 60_000
const REQUEST_ID = /^[\w.:-]{1,64}$/

// An id is the process's random prefix and a count, decimal since other bases take ten times as long: unique over nodes, and
// no random bytes per request.
const idPrefix = randomBytes(6).toString('hex')
let idCount = 0

export function newRequestId(): string {
  idCount += 1
  return `${idPrefix}-${idCount}`
}

/** The caller's own id where it is one, else a new one. */
export function requestIdOf({ headers }: { headers: IncomingHttpHeaders }): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : newRequestId()
}

/** Joined with a comma where it was sent twice. */
const HOST = /^[\w.~%!$&'()*+;=:[\]-]*$/

/** What is wrong with the Host header by RFC 9112, null when it is right. */
export function hostProblem({ headers: { host }, httpVersion }: IncomingMessage): Reason | null {
  if (host === undefined) return httpVersion === '1.0' ? null : reason('host')
  return HOST.test(host) ? null : reason('host')
}

declare module 'fastify' {
  interface FastifyInstance {
    /** what pages of other origins need to read answers, null on a listener that is not for them */
    cors: CorsHeaders | null
  }
}

export interface ServerOptions {
  log: Log
  /** true: the caller is the last address of `X-Forwarded-For`, from any sender; text: addresses of trusted proxies */
  trustProxy: boolean | string
  /** absent: pages of other origins may not read its answers */
  cors?: CorsHeaders
}

/** A Fastify instance with the house rules and no routes. */
export function createServer({ log, trustProxy, cors }: ServerOptions): FastifyInstance {
  /** Headers of every answer, also of those that are made before any hook. */
  const begin = (request: FastifyRequest, reply: FastifyReply) => {
    reply.header('x-request-id', request.id)
    if (cors) allowOrigin(reply, cors)
  }
  const failed = errorHandler(failuresOf(log))
  const app = Fastify({
    logger: false,
    // One proxy: what stands before the last address of X-Forwarded-For came from the client, which could name any address.
    trustProxy: trustProxy === true ? (_address, hop) => hop === 0 : trustProxy,
    bodyLimit: BODY_LIMIT,
    requestTimeout: 30_000,
    connectionTimeout: UNREAD_MS,
    keepAliveTimeout: 72_000,
    exposeHeadRoutes: true,
    forceCloseConnections: 'idle',
    // What arrives while a node stops is served: Fastify's own refusal has no envelope.
    return503OnClosing: false,
    requestIdHeader: false,
    genReqId: requestIdOf,
    routerOptions: { querystringParser: parseQuery, maxParamLength: 500 },
    frameworkErrors: (error, request, reply) => {
      begin(request, reply)
      failed(error, request, reply)
    },
    clientErrorHandler: (error, socket) => answerMalformedRequest(error, socket, cors?.(undefined)),
    http: {
      headersTimeout: 10_000,
      // Node looks for who is too slow every 30 s only, which makes 40 s of the 10.
      connectionsCheckingInterval: 2_000,
      maxHeaderSize: 32 * 1024,
      // A second Authorization makes the first invalid, instead of passing unseen.
      joinDuplicateHeaders: true,
      // Node's own refusal has no envelope.
      requireHostHeader: false,
    },
  })
  // Bodies and parameters are checked by the verbs' own schemas; Fastify's are for the reference only.
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => (data) => JSON.stringify(data))
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async ({ headers, routeOptions }: FastifyRequest, body: Buffer) => {
    const bytes = await unpackBody(headers['content-encoding'], body, routeOptions.bodyLimit)
    return parseJsonBody(headers['content-type']!, bytes)
  })
  app.addHook('onRequest', (request, reply, done) => {
    begin(request, reply)
    const problem = hostProblem(request.raw)
    // Such a request may have come through a proxy that understood it differently: nothing after it is trusted.
    if (problem) throw new ServiceError('BAD_REQUEST', problem, { headers: { connection: 'close' } })
    done()
  })
  app.addHook('onSend', discardUnreadBody)
  app.decorate('cors', cors ?? null)
  if (cors) answerPreflights(app)
  // Expectations that nobody knows are passed over, as HTTP allows: Node's own refusal has no envelope.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.server.on('timeout', (socket) => endSilent(socket, app.server.timeout))
  app.setErrorHandler(failed)
  app.setNotFoundHandler(answerNotFound)
  return app
}

/** For unknown paths; a scope with hooks sets it again, so that its hooks run before it. */
export function answerNotFound(request: FastifyRequest): never {
  throw new ServiceError('NOT_FOUND', reason('no_route', { method: request.method, path: request.url.split('?', 1)[0]! }))
}

/** Fastify's error handler over these failures. */
export function errorHandler(failed: Failures): (error: unknown, request: FastifyRequest, reply: FastifyReply) => void {
  return (error, request, reply) => {
    const thrown = isCutOff(request) ? new ServiceError('BAD_REQUEST', reason('incomplete')) : error
    sendBy(reply, failed(thrown, request))
  }
}

/** Whether the caller went away, or was cut off, before all of the request was here: nothing of ours failed then. */
function isCutOff({ raw }: FastifyRequest): boolean {
  return raw.destroyed && !raw.complete
}

/** A connection on which nothing moved: ended, unless it waits for us. */
function endSilent(socket: Socket, unreadMs: number): void {
  if (socket.timeout === unreadMs && socket.writableLength === 0) socket.setTimeout(WORKING_MS)
  else socket.destroy()
}

/** Answers malformed HTTP with the envelope, too, if the connection still takes an answer. */
function answerMalformedRequest(error: NodeJS.ErrnoException, socket: Socket, further: readonly string[] = []): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const [status, phrase, why] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? (['431', 'Request Header Fields Too Large', reason('at_most', { part: 'headers', units: 'bytes', max: 32_768 })] as const)
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? (['408', 'Request Timeout', reason('timeout')] as const)
        : (['400', 'Bad Request', reason('not_http')] as const)
  const body = JSON.stringify(errorBody(new ServiceError('BAD_REQUEST', why)))
  const lines = further.map((part, i) => (i % 2 === 0 ? `${part}: ` : `${part}\r\n`)).join('')
  socket.end(
    `HTTP/1.1 ${status} ${phrase}\r\nContent-Type: application/json; charset=utf-8\r\nX-Request-Id: ${newRequestId()}\r\n${lines}` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}
