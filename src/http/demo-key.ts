// Decides who may see the demo key: browsers on this machine that use a loopback address.
import type { FastifyRequest } from 'fastify'
import { isLoopback } from '#core/loopback.ts'

/**
 * The key where the request names a loopback host and came from this machine, else null: a page of another site that has
 * its own name lead here must not read it, nor who comes by way of a proxy.
 */
export function shownTo(request: FastifyRequest, key: string | null): string | null {
  const { headers, hostname, socket } = request
  const forwarded = headers['x-forwarded-for'] ?? headers['x-forwarded-host'] ?? headers.forwarded ?? headers.via
  return forwarded === undefined && isLoopback(hostname) && isLoopback(socket.remoteAddress ?? '') ? key : null
}
