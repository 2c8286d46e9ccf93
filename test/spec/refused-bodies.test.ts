// Bodies that are rejected unread: the client gets the response, and the connection accepts another request or announces that it closes.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OPERATOR_TOKEN, send, startTestNode, type TestNode, until } from '../support/node.ts'
import { rowsOf } from '../support/runs.ts'

let node: TestNode

beforeAll(async () => {
  node = await startTestNode({ env: { RATE_LIMITS: 'starter=1,professional=1000000,plus=1000000,enterprise=1000000' } })
  // Uses up the limit of this key, for a minute that does not end.
  await sql`
    insert into rate_limit_leases (account_id, ends_at, leased, granted, node, shared_at)
    values (${node.accounts.starter}, now() + interval '1 day', 1, 1, 0, '-infinity')`.execute(node.db.kysely)
  await until('the node knows it', async () => (await send(`${node.publicUrl}/api/v1/items`, node.keys.starter)).status === 429)
})

afterAll(() => node.close())

interface Refusal {
  status: number
  method?: string
  /** paths of the operator API begin with /operator */
  path: string
  /** plan of the key, or operator */
  caller: 'starter' | 'professional' | 'plus' | 'operator' | null
  type?: string
  bytes?: number
}

/** 500 KB on the wire in every encoding. */
const SIZE = 500_000
const TOO_LARGE = 1_200_000

const REFUSALS: Refusal[] = [
  { status: 401, path: '/api/v1/plus/make-highlight', caller: null },
  { status: 403, path: '/api/v1/plus/make-highlight', caller: 'professional' },
  { status: 404, path: '/api/v1/nowhere', caller: 'plus' },
  { status: 404, path: '/nowhere', caller: null },
  { status: 405, path: '/api/v1/items', caller: 'plus' },
  { status: 405, path: '/health/live', caller: null },
  { status: 413, path: '/api/v1/plus/make-highlight', caller: 'plus', bytes: TOO_LARGE },
  { status: 415, path: '/api/v1/plus/make-highlight', caller: 'plus', type: 'text/plain' },
  { status: 429, path: '/api/v1/items', caller: 'starter' },
  { status: 200, method: 'GET', path: '/api/v1/items', caller: 'plus' },
  { status: 400, path: '/api/v1/%ff', caller: 'plus' },
  { status: 401, path: '/graphql', caller: null },
  { status: 401, path: '/graphql', caller: null, bytes: 100_000 },
  { status: 405, method: 'PUT', path: '/graphql', caller: 'plus' },
  { status: 413, path: '/graphql', caller: 'plus' },
  { status: 415, path: '/graphql', caller: 'plus', type: 'text/plain' },
  { status: 429, path: '/graphql', caller: 'starter' },
  { status: 429, path: '/graphql', caller: 'starter', bytes: 100_000 },
  { status: 401, path: '/operator/v1/accounts', caller: null },
  { status: 401, path: '/operator/v1/imports/tcgdex', caller: null },
  { status: 404, path: '/operator/v1/nowhere', caller: 'operator' },
  { status: 405, path: '/operator/v1/stats', caller: 'operator' },
  { status: 413, path: '/operator/v1/accounts', caller: 'operator', bytes: TOO_LARGE },
  { status: 415, path: '/operator/v1/accounts', caller: 'operator', type: 'text/plain' },
]

const PACK = {
  identity: (data: Buffer) => data,
  gzip: gzipSync,
  br: (data: Buffer) => brotliCompressSync(data, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  deflate: deflateSync,
}
type Encoding = keyof typeof PACK
const ENCODINGS = Object.keys(PACK) as Encoding[]

const bodies = new Map<string, Buffer>()

/** A JSON text with this compressed length, because nothing in it repeats; or bytes that are neither JSON nor compressed data. */
function bodyOf(encoding: Encoding, bytes: number, valid: boolean): Buffer {
  const key = `${encoding} ${bytes} ${valid}`
  const cached = bodies.get(key)
  if (cached) return cached
  const body = valid ? PACK[encoding](Buffer.from(`{"id": 1, "note": "${randomBytes(bytes).toString('base64')}"}`)) : randomBytes(bytes)
  bodies.set(key, body)
  return body
}

interface Answer {
  status: number
  /** whether it announces that the connection closes */
  ends: boolean
}

/** A response with a Content-Length, and the bytes after it. */
async function nextAnswer(socket: Socket, before: Buffer = Buffer.alloc(0)): Promise<{ answer: Answer; rest: Buffer }> {
  let bytes = before
  // A single promise for all chunks, because each one would leave its listeners behind.
  const ended = once(socket, 'end').then(() => null)
  ended.catch(() => {})
  for (;;) {
    const end = bytes.indexOf('\r\n\r\n')
    if (end >= 0) {
      const head = bytes.subarray(0, end).toString('latin1')
      const from = end + 4
      const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0)
      if (bytes.length >= from + length) {
        const answer = { status: Number(head.slice(9, 12)), ends: /^connection: close/im.test(head) }
        return { answer, rest: bytes.subarray(from + length) }
      }
    }
    const chunk = (await Promise.race([once(socket, 'data'), ended])) as [Buffer] | null
    if (!chunk) throw new Error(`the connection ended after ${bytes.toString('latin1').slice(0, 200)}`)
    bytes = Buffer.concat([bytes, chunk[0]])
  }
}

/** Sends a request as most clients do, the whole body before reading, and one more on the same connection. */
async function exchange({ path, caller, method = 'POST', type = 'application/json' }: Refusal, encoding: string, body: Buffer, chunked: boolean) {
  const operator = path.startsWith('/operator')
  const { hostname, port } = new URL(operator ? node.operatorUrl! : node.publicUrl!)
  const credential = caller === 'operator' ? OPERATOR_TOKEN : caller && node.keys[caller]
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
  const failed = once(socket, 'error').then(([error]) => Promise.reject(error as Error))
  failed.catch(() => {})
  const head = [
    `${method} ${path} HTTP/1.1`,
    'Host: localhost',
    `Content-Type: ${type}`,
    ...(encoding === 'identity' ? [] : [`Content-Encoding: ${encoding}`]),
    ...(credential ? [`Authorization: Bearer ${credential}`] : []),
    chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`,
  ]
  const run = async () => {
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    for (let from = 0; from < body.length; from += 50_000) {
      const part = body.subarray(from, from + 50_000)
      if (chunked) socket.write(`${part.length.toString(16)}\r\n`)
      socket.write(part)
      if (chunked) socket.write('\r\n')
    }
    if (chunked) socket.write('0\r\n\r\n')
    const { answer, rest } = await nextAnswer(socket)
    if (answer.ends) {
      // The server read the whole body, and then closed the connection.
      if (!socket.readableEnded) await once(socket.resume(), 'end')
      return { answer, next: null }
    }
    const live = operator ? '/operator/openapi.json' : '/health/live'
    socket.write(`GET ${live} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    return { answer, next: (await nextAnswer(socket, rest)).answer.status }
  }
  try {
    return await Promise.race([run(), failed])
  } finally {
    socket.destroy()
  }
}

describe.each(rowsOf(REFUSALS, 4))('$status of $path for $caller ($bytes bytes)', (refusal) => {
  test.each(
    rowsOf(
      ENCODINGS.flatMap((encoding) => [true, false].map((valid) => ({ encoding, valid }))),
      3,
    ),
  )('$encoding, valid: $valid', async ({ encoding, valid }) => {
    const body = bodyOf(encoding, refusal.bytes ?? SIZE, valid)
    // A body that is read first may be rejected as malformed.
    const read = !valid && (refusal.status === 404 || refusal.status === 405)
    for (const chunked of [false, true]) {
      const { answer, next } = await exchange(refusal, encoding, body, chunked)
      expect(read ? [400, refusal.status] : [refusal.status]).toContain(answer.status)
      expect(next).toBe(answer.ends ? null : 200)
      // A body of known and moderate size does not close the connection.
      if (!chunked && !read && refusal.status !== 413) expect(answer.ends).toBe(false)
    }
  })
})

test('a body that does not match its encoding returns 400, and an upload with an unknown encoding 415', async () => {
  const broken: Refusal = { status: 400, path: '/api/v1/plus/make-highlight', caller: 'plus' }
  const upload: Refusal = { status: 415, path: '/operator/v1/imports/tcgdex', caller: 'operator', type: 'text/plain' }
  for (const encoding of ['gzip', 'br', 'deflate']) {
    expect((await exchange(broken, encoding, Buffer.alloc(SIZE, 'not compressed '), false)).answer.status).toBe(400)
  }
  for (const encoding of ['br', 'deflate', 'zstd']) {
    for (const chunked of [false, true]) expect((await exchange(upload, encoding, randomBytes(3 * SIZE), chunked)).answer.status).toBe(415)
  }
})
