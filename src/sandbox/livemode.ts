// Marks the JSON responses of a sandbox with `livemode: false`, so that no client takes them for real data.
import type { FastifyInstance } from 'fastify'

const OBJECT = /^\s*\{/
const GRAPHQL = /^\/graphql(?:\/|\?|$)/

/** Adds the mark to every response with a JSON object; in GraphQL it is one of the extensions. */
export function markAsTest(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const type = String(reply.getHeader('content-type') ?? '')
    const text = Buffer.isBuffer(payload) ? payload.toString() : payload
    if (!type.includes('json') || typeof text !== 'string' || !OBJECT.test(text)) return payload
    reply.removeHeader('content-length')
    if (GRAPHQL.test(request.url)) {
      const body = JSON.parse(text) as { extensions?: object }
      return JSON.stringify({ ...body, extensions: { ...body.extensions, livemode: false } })
    }
    const inner = text.replace(OBJECT, '')
    return `{"livemode":false${/^\s*\}/.test(inner) ? '' : ','}${inner}`
  })
}
