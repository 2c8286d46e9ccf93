// Adapter for Fastify: converts its requests to ours, and writes our responses to its reply.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Operation, Viewer } from '#core/verb.ts'
import type { RawQuery } from './query.ts'
import { type ApiRequest, disconnectOf, type Responder } from './respond.ts'
import type { Headers, Response } from './response.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** set by the gate, before the body is read */
    viewer: Viewer | null
    /** the credential that the gate accepted: the Authorization header, or the console session's secret */
    credential: string | null
  }
  interface FastifyContextConfig {
    /** the gate's view of the route's verb */
    operation?: Operation
  }
}

/** The caller of a request that has passed the gate. */
export function viewerOf(request: FastifyRequest): Viewer {
  if (!request.viewer) throw new Error(`${request.method} ${request.routeOptions.url} is not behind the gate`)
  return request.viewer
}

/** Converts Fastify's request. */
export function apiRequest(request: FastifyRequest): ApiRequest {
  const { id, method, url, headers, body } = request
  const params = request.params as Record<string, string>
  return {
    id,
    method,
    url,
    headers,
    body,
    params,
    query: () => request.query as RawQuery,
    onDisconnect: disconnectOf(request.raw),
    address: () => request.ip,
    credential: () => bareCredential(request.credential),
  }
}

/** A credential without its scheme, which is case-insensitive. */
export function bareCredential(credential: string | null): string | null {
  return credential?.replace(/^\S+ +/, '') ?? null
}

/** Handles a request that has passed the gate. */
export function handleRequest(respond: Responder, request: FastifyRequest, reply: FastifyReply): FastifyReply | Promise<FastifyReply> {
  const response = respond(viewerOf(request), apiRequest(request))
  return response instanceof Promise ? response.then((made) => sendBy(reply, made)) : sendBy(reply, response)
}

/** Sets headers; values of `Vary` are added. */
export function setHeaders(reply: FastifyReply, headers: Headers): void {
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!
    const before = name === 'vary' ? reply.getHeader(name) : undefined
    reply.header(name, before === undefined ? headers[i + 1] : `${String(before)}, ${headers[i + 1]!}`)
  }
}

/** Sends a response with Fastify's reply. */
export function sendBy(reply: FastifyReply, { status, headers, etag, body }: Response): FastifyReply {
  reply.code(status)
  setHeaders(reply, headers)
  if (etag) reply.header('etag', etag)
  return reply.send(typeof body === 'function' ? body() : (body ?? undefined))
}
