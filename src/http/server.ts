// Shared by both listeners: limits, request ids, JSON bodies, and errors in the envelope.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, type onRequestHookHandler } from 'fastify'
import { newId } from '#core/process/time-and-chance.ts'
import type { Log } from '#core/context.ts'
import { ServiceError } from '#core/errors.ts'
import { type Reason, reason } from '#core/problems.ts'
import { nameRequest } from '#core/tracing/spans.ts'
import { trustOf } from './client-address.ts'
import { allowOrigin, answerPreflights, type CorsHeaders } from './cors.ts'
import { errorBody } from './envelope.ts'
import { type Failures, failuresOf } from './failures.ts'
import { sendBy } from './fastify-adapter.ts'
import { parseJsonBody } from './body/json.ts'
import { parseQuery } from './query.ts'
import { unpackBody } from './body/unpack.ts'
import { discardUnreadBody } from './body/unread-body.ts'

const BODY_LIMIT = 1024 * 1024
/** How long a client may stop reading a response; Node checks twice, which makes 34 s. */
const UNREAD_MS = 17_000
/** How long a connection may be idle while its request is processed. */
const WORKING_MS = 60_000
const REQUEST_ID = /^[\w.:-]{1,64}$/

// An id is the process's random prefix and a counter, decimal because other bases take ten times as long: unique across nodes,
// without random bytes per request.
const idPrefix = newId().slice(-12)
let idCount = 0

export function newRequestId(): string {
  idCount += 1
  return `${idPrefix}-${idCount}`
}

/** The caller's own id if it is valid, otherwise a new one. */
export function requestIdOf({ headers }: { headers: IncomingHttpHeaders }): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : newRequestId()
}

/** Node joins the header with a comma if it was sent twice. */
const HOST = /^[\w.~%!$&'()*+;=:[\]-]*$/

/** The problem of the Host header by RFC 9112; null if it is valid. */
export function hostProblem({ headers: { host }, httpVersion }: IncomingMessage): Reason | null {
  if (host === undefined) return httpVersion === '1.0' ? null : reason('host')
  return HOST.test(host) ? null : reason('host')
}

declare module 'fastify' {
  interface FastifyInstance {
    /** headers that let pages of other origins read responses; null if the listener does not support them */
    cors: CorsHeaders | null
  }
}

export interface ServerOptions {
  log: Log
  /** true: the caller is the last address of `X-Forwarded-For`, from any sender; text: addresses of trusted proxies */
  trustProxy: boolean | string
  /** absent: pages of other origins may not read its responses */
  cors?: CorsHeaders
}

/** Warns of the first request whose forwarded address is not trusted: behind a proxy, all its clients then count as one. */
function warnOnce(log: Log): onRequestHookHandler {
  let warned = false
  return ({ headers, ips, socket }, _reply, done) => {
    // Fastify lists the sender, followed by the addresses that it forwarded and that are trusted.
    if (!warned && (headers['x-forwarded-for'] ?? headers.forwarded) !== undefined && (ips?.length ?? 1) === 1) {
      warned = true
      log.warn({ proxy: socket.remoteAddress }, `${NOT_TRUSTED}: limits count its clients as one address; if it is your proxy, set TRUST_PROXY`)
    }
    done()
  }
}

const NOT_TRUSTED = 'Ignoring the forwarded address of a sender that TRUST_PROXY does not name'

/** A Fastify instance with the settings that both listeners share, and no routes. */
export function createServer({ log, trustProxy, cors }: ServerOptions): FastifyInstance {
  /** Headers of every response, including those that are sent before any hook runs. */
  const begin = (request: FastifyRequest, reply: FastifyReply) => {
    reply.header('x-request-id', request.id)
    if (cors) allowOrigin(reply, cors)
  }
  const failed = errorHandler(failuresOf(log))
  const app = Fastify({
    logger: false,
    trustProxy: trustProxy !== false && trustOf(trustProxy),
    bodyLimit: BODY_LIMIT,
    requestTimeout: 30_000,
    connectionTimeout: UNREAD_MS,
    keepAliveTimeout: 72_000,
    exposeHeadRoutes: true,
    forceCloseConnections: 'idle',
    // Requests that arrive while a node stops are served: Fastify's own rejection has no envelope.
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
      // Node checks for slow clients only every 30 s, which makes 40 s of the 10.
      connectionsCheckingInterval: 2_000,
      maxHeaderSize: 32 * 1024,
      // A second Authorization header invalidates the first, instead of being ignored.
      joinDuplicateHeaders: true,
      // Node's own rejection has no envelope.
      requireHostHeader: false,
    },
  })
  // Bodies and parameters are validated by the verbs' own schemas; Fastify's are for the reference only.
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => (data) => JSON.stringify(data))
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async ({ headers, routeOptions }: FastifyRequest, body: Buffer) => {
    const bytes = await unpackBody(headers['content-encoding'], body, routeOptions.bodyLimit)
    return parseJsonBody(headers['content-type']!, bytes)
  })
  app.addHook('onRequest', (request, reply, done) => {
    begin(request, reply)
    nameRequest(request.method, request.routeOptions.url, request.id)
    const problem = hostProblem(request.raw)
    // A proxy may have parsed this request differently, so nothing after it on the connection is trusted.
    if (problem) throw new ServiceError('BAD_REQUEST', problem, { headers: { connection: 'close' } })
    done()
  })
  app.addHook('onRequest', warnOnce(log))
  app.addHook('onSend', discardUnreadBody)
  app.decorate('cors', cors ?? null)
  if (cors) answerPreflights(app)
  // Unknown expectations are ignored, as HTTP allows: Node's own rejection has no envelope.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.server.on('timeout', (socket) => endSilent(socket, app.server.timeout))
  app.setErrorHandler(failed)
  app.setNotFoundHandler(answerNotFound)
  return app
}

/** Handles unknown paths; a scope with hooks sets it again, so that its hooks run first. */
export function answerNotFound(request: FastifyRequest): never {
  throw new ServiceError('NOT_FOUND', reason('no_route', { method: request.method, path: request.url.split('?', 1)[0]! }))
}

/** Fastify's error handler, based on these failures. */
export function errorHandler(failed: Failures): (error: unknown, request: FastifyRequest, reply: FastifyReply) => void {
  return (error, request, reply) => {
    const thrown = isCutOff(request) ? new ServiceError('BAD_REQUEST', reason('incomplete')) : error
    sendBy(reply, failed(thrown, request))
  }
}

/** Whether the client disconnected, or was disconnected, before the whole request arrived: not a failure of the service. */
function isCutOff({ raw }: FastifyRequest): boolean {
  return raw.destroyed && !raw.complete
}

/** Closes an idle connection, unless it is waiting for our response. */
function endSilent(socket: Socket, unreadMs: number): void {
  if (socket.timeout === unreadMs && socket.writableLength === 0) socket.setTimeout(WORKING_MS)
  else socket.destroy()
}

/** Also sends malformed HTTP requests an error in the envelope, if the connection can still be written. */
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
