// The address of a request's client: that of the connection, or the one that a trusted proxy states (`X-Forwarded-For`).
import type { IncomingMessage } from 'node:http'
import proxyAddress from '@fastify/proxy-addr'

export type Trust = (address: string, hop: number) => boolean

/**
 * Which senders of `X-Forwarded-For` are trusted.
 * @param setting true: one proxy, from any address, because everything before the last address came from its client; text: addresses of
 *   proxies, separated by commas
 */
export function trustOf(setting: boolean | string): Trust {
  if (typeof setting === 'boolean') return setting ? (_address, hop) => hop === 0 : () => false
  return proxyAddress.compile(setting.split(',').map((part) => part.trim()))
}

/** The client's address; empty if the connection has ended. */
export function clientAddress(request: IncomingMessage, trust: Trust): string {
  if (request.headers['x-forwarded-for'] === undefined) return request.socket.remoteAddress ?? ''
  return proxyAddress(request, trust)
}
