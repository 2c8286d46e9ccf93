// Handles bodies rejected before they were read: the connection continues, or closes after the client got the response.
import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { startTimer, stopTimer } from '#core/process/time-and-chance.ts'

/** Bodies up to this size are read and discarded; longer ones, and those of unknown size, close their connection. */
const DISCARDED_BYTES = 1024 * 1024
/** How long the rest of a body may take to arrive after the response is sent. */
const DISCARD_MS = 30_000

/**
 * A hook for `onSend`. Without it, a partly read body blocks the next request on its connection; and a connection that
 * closes while the client is still sending is reset, so the client may lose the response.
 */
export function discardUnreadBody({ raw }: FastifyRequest, reply: FastifyReply, _payload: unknown, done: () => void): void {
  if (raw.readableEnded || !hasBody(raw)) return done()
  const length = Number(raw.headers['content-length'] ?? Infinity)
  if (length > DISCARDED_BYTES && !raw.complete) reply.header('connection', 'close')
  const { socket } = raw
  // Node calls this after it has sent a response that closes the connection.
  socket.destroySoon = () => {
    const close = () => Socket.prototype.destroySoon.call(socket)
    if (raw.readableEnded) return close()
    socket.end()
    raw.once('end', close)
  }
  reply.raw.once('finish', () => {
    // The next response closes the connection as usual.
    delete (socket as Partial<Socket>).destroySoon
    const timer = startTimer(() => socket.destroy(), DISCARD_MS).unref()
    for (const event of ['end', 'close']) raw.once(event, () => stopTimer(timer))
    raw.unpipe()
    raw.resume()
  })
  done()
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
