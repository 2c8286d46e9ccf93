// Compressed bodies of unsupported types, each followed by a valid request on the same connection, which must get a response.
import { randomFillSync } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import type { Target } from './bad-input-target.ts'

/** A response that takes longer than this counts as a hang, however busy the machine is. */
export const HANG_MS = 60_000
/** More than the buffers of a connection hold, to detect a server that does not read. */
const BODY_BYTES = 500_000

const BODIES: readonly [encoding: string, body: Buffer][] = (() => {
  const raw = randomFillSync(Buffer.alloc(BODY_BYTES))
  return [
    ['gzip', gzipSync(raw)],
    ['br', brotliCompressSync(raw, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
    ['deflate', deflateSync(raw)],
    ['gzip', raw],
    ['br', raw],
    ['deflate', raw],
    ['gzip', gzipSync(raw).subarray(0, BODY_BYTES / 2)],
  ]
})()
const TYPES = ['text/plain', 'application/xml', 'multipart/form-data; boundary=x', 'application/json; charset=utf-16', 'application/json', null]

interface Endpoint {
  url: string
  method: string
  path: string
  key: string | null
}

/** One request for each reason of refusal: type, key, plan, path, method. */
function targets({ publicUrl, operatorUrl, operatorToken, keys, listing }: Target): { endpoint: Endpoint; good: Endpoint }[] {
  const atPublic = (method: string, path: string, key: string | null): { endpoint: Endpoint; good: Endpoint } => ({
    endpoint: { url: publicUrl, method, path, key },
    good: { url: publicUrl, method: 'GET', path: '/api/v1/items?per_page=1', key: keys.plus },
  })
  return [
    atPublic('POST', '/graphql', keys.plus),
    atPublic('POST', '/graphql', null),
    atPublic('POST', '/api/v1/plus/make-highlight', keys.plus),
    atPublic('POST', '/api/v1/plus/make-highlight', keys.starter),
    atPublic('PATCH', `/api/v1/plus/listings/${listing}`, null),
    atPublic('POST', '/api/v1/nothing', keys.plus),
    atPublic('POST', '/api/v1/items', keys.plus),
    {
      endpoint: { url: operatorUrl, method: 'POST', path: '/operator/v1/accounts', key: operatorToken },
      good: { url: operatorUrl, method: 'GET', path: '/operator/v1/accounts?per_page=1', key: operatorToken },
    },
  ]
}

/**
 * @param bodiesOf the bodies for a content type, by its position; default: all
 * @returns the number sent, and the violations
 */
export async function attackKeepAlive(
  target: Target,
  bodiesOf = (all: typeof BODIES, _row: number) => all,
): Promise<{ sent: number; breaches: string[] }> {
  const breaches: string[] = []
  let sent = 0
  for (const { endpoint, good } of targets(target)) {
    await Promise.all(
      TYPES.flatMap((type, row) =>
        bodiesOf(BODIES, row).map(async ([encoding, body], i) => {
          sent += 1
          const problem = await refusedThenGood(endpoint, good, type, encoding, body)
          if (problem)
            breaches.push(
              `${endpoint.method} ${endpoint.url}${endpoint.path} [content-type: ${type}; content-encoding: ${encoding}; body ${i}]: ${problem}`,
            )
        }),
      ),
    )
  }
  return { sent, breaches }
}

/** The server may close the connection after the refusal; if it stays open, the next request must succeed. */
async function refusedThenGood(endpoint: Endpoint, good: Endpoint, type: string | null, encoding: string, body: Buffer): Promise<string | null> {
  const { hostname, port } = new URL(endpoint.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  try {
    socket.write(
      head(endpoint, [...(type === null ? [] : [`content-type: ${type}`]), `content-encoding: ${encoding}`, `content-length: ${body.length}`]),
    )
    socket.write(body)
    const refused = await answer(socket)
    if (refused === 'hang') return `no response within ${HANG_MS} ms`
    if (refused === 'closed') return null
    if (refused.status < 400 || refused.status >= 500) return `answered ${refused.status}`
    if (refused.closes) return null
    socket.write(head(good, []))
    const next = await answer(socket)
    if (next === 'hang') return `refused with ${refused.status}, then no response within ${HANG_MS} ms on the same connection`
    return next === 'closed' || next.status === 200 ? null : `refused with ${refused.status}, then ${next.status} on the same connection`
  } finally {
    socket.destroy()
  }
}

function head({ url, method, path, key }: Endpoint, further: string[]): string {
  const lines = [`${method} ${path} HTTP/1.1`, `host: ${new URL(url).host}`, ...(key === null ? [] : [`authorization: Bearer ${key}`]), ...further]
  return `${lines.join('\r\n')}\r\n\r\n`
}

/** The next response on a connection. */
function answer(socket: Socket): Promise<{ status: number; closes: boolean } | 'closed' | 'hang'> {
  return new Promise((resolve) => {
    let text = ''
    const end = (result: { status: number; closes: boolean } | 'closed' | 'hang') => {
      clearTimeout(timer)
      socket.off('data', read)
      socket.off('close', closed)
      resolve(result)
    }
    const read = (chunk: Buffer) => {
      text += chunk.toString('latin1')
      const split = text.indexOf('\r\n\r\n')
      if (split < 0) return
      const headers = text.slice(0, split)
      const length = Number(/^content-length: (\d+)/im.exec(headers)?.[1] ?? 0)
      const rest = text.slice(split + 4)
      const whole = /^transfer-encoding: chunked/im.test(headers) ? rest.endsWith('0\r\n\r\n') : rest.length >= length
      if (whole) end({ status: Number(headers.slice(9, 12)), closes: /^connection: close/im.test(headers) })
    }
    const closed = () => end('closed')
    const timer = setTimeout(() => end('hang'), HANG_MS)
    socket.on('data', read)
    socket.on('close', closed)
    if (socket.destroyed) closed()
  })
}
