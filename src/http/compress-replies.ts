// Compresses the responses of a listener that no responder of the API has compressed: pages, documents and early errors.
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { setHeaders } from './fastify-adapter.ts'
import { compress, encodingFor } from './response.ts'

/** Types of texts besides `text/…` and those that end in `+json` or `+xml`. */
const TEXTS = new Set(['application/json', 'application/javascript', 'application/xml', 'application/yaml', 'application/x-ndjson'])

/** Adds a hook to all routes; responses that are compressed already, parts of files, and other types than texts stay unchanged. */
export function compressReplies(app: FastifyInstance): void {
  app.addHook('onSend', async ({ headers }, reply, payload) => {
    if (!isCompressible(reply)) return payload
    const [encoding, body] = [encodingFor(headers['accept-encoding']), bodyOf(payload)]
    if (encoding === null || body === null) return payload
    const compressed = await compress({ status: reply.statusCode, headers: [], body }, encoding)
    if (!compressed.headers.includes('content-encoding')) return payload
    reply.removeHeader('content-length').header('content-encoding', encoding)
    if (!String(reply.getHeader('vary') ?? '').includes('accept-encoding')) setHeaders(reply, ['vary', 'accept-encoding'])
    return compressed.body
  })
}

function isCompressible(reply: FastifyReply): boolean {
  if (reply.hasHeader('content-encoding') || reply.hasHeader('content-range')) return false
  const [type = ''] = String(reply.getHeader('content-type') ?? '').split(';', 1)
  // Events of a stream must not wait for others to be compressed with.
  if (type === 'text/event-stream') return false
  return type.startsWith('text/') || type.endsWith('+json') || type.endsWith('+xml') || TEXTS.has(type)
}

function bodyOf(payload: unknown): Buffer | Readable | null {
  if (typeof payload === 'string') return Buffer.from(payload)
  return Buffer.isBuffer(payload) || payload instanceof Readable ? payload : null
}
