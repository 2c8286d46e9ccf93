// One POST to a stranger's server: only to allowed addresses, never redirected, with one deadline and a bounded answer.
import { once } from 'node:events'
import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { Client } from 'undici'
import type { Resolve } from './resolve.ts'
import { type TargetGuard, targetOf } from './target-guard.ts'

export interface Network {
  guard: Pick<TargetGuard, 'allows'>
  resolve: Resolve
}

/** Every text that the log's `error` can hold, besides null (decisions.md, "Webhooks"). */
export type PostError =
  | 'target address not allowed'
  | 'name not resolved'
  | 'connection failed'
  | 'TLS error'
  | 'timed out after 5 s'
  | 'interrupted by a restart'

export interface Outcome {
  success: boolean
  statusCode: number | null
  error: PostError | null
  /** start of the answer's body, at most 1,000 characters */
  excerpt: string
}

const TIMEOUT_MS = 5_000
const EXCERPT_MS = 500
const EXCERPT_BYTES = 4_096
const EXCERPT_LENGTH = 1_000

class PostFailure extends Error {
  readonly reason: PostError

  constructor(reason: PostError, cause?: unknown) {
    super(reason, { cause })
    this.reason = reason
  }
}

/** Posts once and never throws; redirects are answers like any other. */
export async function post(
  url: URL,
  headers: Record<string, string>,
  body: string,
  network: Network,
): Promise<Outcome> {
  const deadline = AbortSignal.timeout(TIMEOUT_MS)
  let client: Client | null = null
  try {
    const socket = await dial(url, network, deadline)
    client = clientOn(socket, url)
    const request = client.request({
      method: 'POST',
      path: url.pathname + url.search,
      headers,
      body,
      reset: true,
      signal: deadline,
    })
    const response = await until(deadline, request)
    const excerpt = await excerptOf(response.body)
    const { statusCode } = response
    return { success: statusCode >= 200 && statusCode < 300, statusCode, error: null, excerpt }
  } catch (error) {
    const reason = deadline.aborted
      ? 'timed out after 5 s'
      : error instanceof PostFailure
        ? error.reason
        : 'connection failed'
    return { success: false, statusCode: null, error: reason, excerpt: '' }
  } finally {
    void client?.destroy()
  }
}

/** A connection to an address that was checked, all answers of the resolver included; with TLS for https. */
async function dial(url: URL, { guard, resolve }: Network, deadline: AbortSignal): Promise<Socket> {
  const { host, port } = targetOf(url)
  const addresses = isIP(host) ? [host] : await until(deadline, resolve(host))
  if (addresses.length === 0) throw new PostFailure('name not resolved')
  if (!addresses.every((address) => guard.allows(address, port))) throw new PostFailure('target address not allowed')
  const answers = addresses.map((address) => ({ address, family: isIP(address) }))
  const socket = connect({ host, port, autoSelectFamily: true, lookup: (_name, _options, done) => done(null, answers) })
  ignoreErrors(socket)
  await opened(socket, 'connect', 'connection failed', deadline)
  if (url.protocol !== 'https:') return socket
  const secure = connectTls({
    socket,
    servername: isIP(host) ? '' : host.replace(/\.$/, ''),
    host,
    ALPNProtocols: ['http/1.1'],
  })
  ignoreErrors(secure)
  await opened(secure, 'secureConnect', 'TLS error', deadline)
  return secure
}

/** Whoever waits for a socket learns of its error; one that comes between two waits must not end the process. */
function ignoreErrors(socket: Socket): void {
  socket.on('error', () => {})
}

async function opened(socket: Socket, event: string, failure: PostError, deadline: AbortSignal): Promise<void> {
  try {
    await once(socket, event, { signal: deadline })
  } catch (error) {
    socket.destroy()
    throw new PostFailure(failure, error)
  }
}

/** A client for one request on one connection: it may not connect anew, unchecked. */
function clientOn(socket: Socket, url: URL): Client {
  let given = false
  return new Client(url.origin, {
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (_options, done) => {
      const again = given
      given = true
      // Not at once: undici is in the middle of its own turn here.
      queueMicrotask(() => (again ? done(new Error('the connection was closed'), null) : done(null, socket)))
    },
  })
}

async function until<T>(deadline: AbortSignal, result: Promise<T>): Promise<T> {
  const over = once(deadline, 'abort').then(() => {
    throw new PostFailure('timed out after 5 s')
  })
  return Promise.race([result, over])
}

type Body = AsyncIterable<Buffer> & { destroy(): unknown; on(event: 'error', listener: () => void): unknown }

/** As much of the answer as arrives soon; compressed answers are not unpacked. */
async function excerptOf(body: Body): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  body.on('error', () => {})
  const timer = setTimeout(() => body.destroy(), EXCERPT_MS)
  try {
    for await (const chunk of body) {
      chunks.push(chunk)
      size += chunk.length
      if (size >= EXCERPT_BYTES) break
    }
  } catch {
    // Cut off: what came is the excerpt.
  } finally {
    clearTimeout(timer)
    body.destroy()
  }
  return readable(Buffer.concat(chunks).subarray(0, EXCERPT_BYTES), size > EXCERPT_BYTES)
}

/** Text that can be stored and shown: invalid UTF-8 replaced, control characters and half characters removed. */
function readable(bytes: Buffer, cut: boolean): string {
  const text = new TextDecoder().decode(bytes, { stream: cut }).replace(/\p{Cc}/gu, '')
  return text.slice(0, EXCERPT_LENGTH).replace(/[\uD800-\uDBFF]$/, '')
}
