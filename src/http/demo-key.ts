// Decides who may see the demo key: browsers on this machine that use a loopback address.
import type { FastifyRequest } from 'fastify'
import { isLoopback } from '#core/network/loopback.ts'

/**
 * The key if the request names a loopback host and comes from this machine, otherwise null: neither another site whose
 * name resolves to this machine nor a client behind a proxy can read it.
 */
export function demoKeyFor(request: FastifyRequest, key: string | null): string | null {
  const { headers, hostname, socket } = request
  const forwarded = headers['x-forwarded-for'] ?? headers['x-forwarded-host'] ?? headers.forwarded ?? headers.via
  return forwarded === undefined && isLoopback(hostname) && isLoopback(socket.remoteAddress ?? '') ? key : null
}
